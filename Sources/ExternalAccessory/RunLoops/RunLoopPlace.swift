// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation

/// A run loop and a mode in which a source is scheduled.
///
/// `@unchecked Sendable`: by their documentation a `CFRunLoop` and a `CFString` may be used from any thread, and timers
/// may be added and invalidated from any thread. The `RunLoop` is retained and compared, and never called. A value is
/// changed only under the lock of the `RunLoopSource` that it belongs to.
struct RunLoopPlace: @unchecked Sendable {
  /// The run loop that the client passed. Retained, since `remove` compares its identity.
  let runLoop: RunLoop
  let mode: RunLoop.Mode
  /// The `CFRunLoop` of `runLoop`; nil until it is known.
  var loop: CFRunLoop?
  /// A timer that finds the `CFRunLoop` when the run loop fires it.
  var timer: Timer?

  init(_ runLoop: RunLoop, _ mode: RunLoop.Mode) {
    (self.runLoop, self.mode) = (runLoop, mode)
    // Foundation has no public way from a `RunLoop` to its `CFRunLoop`, except for the main and the current run loop.
    // The current one is tried last, since asking for it gives a thread without a run loop a new one, with two
    // descriptors.
    if runLoop === RunLoop.main {
      loop = CFRunLoopGetMain()
    } else if let known = KnownRunLoops.loop(of: runLoop) {
      loop = known
    } else if runLoop === RunLoop.current {
      loop = CFRunLoopGetCurrent()
    }
  }

  var isMain: Bool { runLoop === RunLoop.main }

  /// The identity of a place, without a reference to the run loop.
  struct Key: Hashable, Sendable {
    let runLoop: ObjectIdentifier
    let mode: String
  }

  var key: Key { Key(runLoop: ObjectIdentifier(runLoop), mode: mode.rawValue) }

  func isSame(_ other: RunLoopPlace) -> Bool { key == other.key }

  /// The mode's name in Core Foundation. The set of common modes is identified by its string's address, not by the
  /// text.
  var modeName: CFString {
    switch mode {
    case .common: kCFRunLoopCommonModes
    case .default: kCFRunLoopDefaultMode
    default: CFStringCreateWithCString(nil, mode.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
  }
}
