// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Synchronization

/// Notices when the main run loop stops running.
enum MainRunLoopWatch {
  private static let hasStopped = Atomic(false)

  /// True from the moment at which a run of the main run loop ends until the next one begins.
  static var isStopping: Bool { hasStopped.load(ordering: .sequentiallyConsistent) }

  /// Notices it in the common modes and in this one, from now on.
  static func watch(_ mode: CFString) {
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, mode)
  }

  /// `nonisolated(unsafe)`: only added to the main run loop, which any thread may do by its documentation.
  nonisolated(unsafe) private static let observer: CFRunLoopObserver? = {
    let activities = CFRunLoopActivity.entry.rawValue | CFRunLoopActivity.exit.rawValue
    return CFRunLoopObserverCreateWithHandler(nil, activities, true, 0) { _, activity in
      let isExit = activity.contains(.exit)
      hasStopped.store(isExit, ordering: .sequentiallyConsistent)
      if isExit { RunLoopSource.mainRunLoopStopped() }
    }
  }()
}
