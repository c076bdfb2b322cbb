// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreFoundation
import Foundation

/// A cache of the `CFRunLoop`s of other threads' run loops. Finding one needs a timer, which Foundation never frees.
enum KnownRunLoops {
  /// `@unchecked Sendable`: by its documentation a `CFRunLoop` may be used from any thread. The `RunLoop` is compared,
  /// and never called.
  private struct Entry: @unchecked Sendable {
    weak var runLoop: RunLoop?
    let loop: CFRunLoop
  }

  private static let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// The `CFRunLoop` of `runLoop`; nil when it isn't in the cache.
  static func loop(of runLoop: RunLoop) -> CFRunLoop? {
    let key = ObjectIdentifier(runLoop)
    // The address may belong to another object by now, so the identity is compared.
    return entries.withLock { $0[key] }.flatMap { $0.runLoop === runLoop ? $0.loop : nil }
  }

  /// Stores the `CFRunLoop` of the current run loop, and removes those of run loops that are gone.
  static func noteCurrent() {
    let entry = Entry(runLoop: .current, loop: CFRunLoopGetCurrent())
    let key = ObjectIdentifier(RunLoop.current)
    let gone = entries.withLock { entries in
      let gone = entries.filter { $0.value.runLoop == nil }
      for key in gone.keys { entries[key] = nil }
      entries[key] = entry
      return gone
    }
    _ = gone  // released outside the lock
  }
}
