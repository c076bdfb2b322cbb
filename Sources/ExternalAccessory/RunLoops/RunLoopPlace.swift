// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation

/// A run loop and a mode in which something is scheduled.
///
/// `@unchecked Sendable`: a `CFRunLoop`, a `CFString` and the adding and invalidating of a timer may be used from any
/// thread by their documentation; the `RunLoop` is kept and compared, never called; and a place is only changed under
/// the lock of the `RunLoopSource` that it belongs to.
struct RunLoopPlace: @unchecked Sendable {
  /// The run loop as the client named it. Kept, as its identity is what `remove` is told.
  let runLoop: RunLoop
  let mode: RunLoop.Mode
  /// The run loop beneath; nil until it is known.
  var loop: CFRunLoop?
  /// Finds out, in the run loop itself, which one it is.
  var timer: Timer?

  init(_ runLoop: RunLoop, _ mode: RunLoop.Mode) {
    (self.runLoop, self.mode) = (runLoop, mode)
    // There is no public way from a RunLoop to what lies beneath, but for the main and the current one. The latter is
    // asked for last: a thread that had no run loop gets one by that, with two descriptors.
    if runLoop === RunLoop.main {
      loop = CFRunLoopGetMain()
    } else if let known = KnownRunLoops.loop(of: runLoop) {
      loop = known
    } else if runLoop === RunLoop.current {
      loop = CFRunLoopGetCurrent()
    }
  }

  var isMain: Bool { runLoop === RunLoop.main }

  /// Which place it is, without keeping the run loop.
  struct Key: Hashable, Sendable {
    let runLoop: ObjectIdentifier
    let mode: String
  }

  var key: Key { Key(runLoop: ObjectIdentifier(runLoop), mode: mode.rawValue) }

  func isSame(_ other: RunLoopPlace) -> Bool { key == other.key }

  /// The mode's name beneath. The set of the common modes is known by its string's address, not by what it says.
  var modeName: CFString {
    switch mode {
    case .common: kCFRunLoopCommonModes
    case .default: kCFRunLoopDefaultMode
    default: CFStringCreateWithCString(nil, mode.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
  }
}
