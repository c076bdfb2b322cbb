// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreFoundation
import Foundation

/// What lies beneath the run loops of other threads, as far as it was found out: asking costs a timer, and Foundation
/// never frees a timer.
enum KnownRunLoops {
  /// `@unchecked Sendable`: a `CFRunLoop` may be used from any thread by its documentation; the `RunLoop` is compared,
  /// never called.
  private struct Entry: @unchecked Sendable {
    weak var runLoop: RunLoop?
    let loop: CFRunLoop
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// What lies beneath `runLoop`; nil when that isn't known.
  static func loop(of runLoop: RunLoop) -> CFRunLoop? {
    let key = ObjectIdentifier(runLoop)
    // An address may be another's now.
    return entries.withLock { $0[key] }.flatMap { $0.runLoop === runLoop ? $0.loop : nil }
  }

  /// Notes what lies beneath the current run loop, and forgets those that are gone.
  static func noteCurrent() {
    let entry = Entry(runLoop: .current, loop: CFRunLoopGetCurrent())
    let key = ObjectIdentifier(RunLoop.current)
    let gone = entries.withLock { entries in
      let gone = entries.filter { $0.value.runLoop == nil }
      for key in gone.keys { entries[key] = nil }
      entries[key] = entry
      return gone
    }
    _ = gone  // let go outside the lock
  }
}
