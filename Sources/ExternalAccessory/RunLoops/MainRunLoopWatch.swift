// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Synchronization

/// Observes when the main run loop stops running.
enum MainRunLoopWatch {
  private static let hasStopped = Atomic(false)

  /// True from the end of a run of the main run loop until the next run begins.
  static var isStopping: Bool { hasStopped.load(ordering: .sequentiallyConsistent) }

  /// Observes the common modes and `mode`, from now on.
  static func watch(_ mode: CFString) {
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, mode)
  }

  /// `nonisolated(unsafe)`: the observer is only added to the main run loop, which any thread may do by its
  /// documentation.
  nonisolated(unsafe) private static let observer: CFRunLoopObserver? = {
    let activities = CFRunLoopActivity.entry.rawValue | CFRunLoopActivity.exit.rawValue
    return CFRunLoopObserverCreateWithHandler(nil, activities, true, 0) { _, activity in
      let isExit = activity.contains(.exit)
      hasStopped.store(isExit, ordering: .sequentiallyConsistent)
      if isExit { RunLoopSource.mainRunLoopStopped() }
    }
  }()
}
