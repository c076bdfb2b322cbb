// SPDX-License-Identifier: Apache-2.0

import CoreFoundation

/// Notices when the main run loop stops running.
enum MainRunLoopWatch {
  /// Begins, once in a process.
  static func start() { _ = observer }

  /// `nonisolated(unsafe)`: never used again, only kept.
  nonisolated(unsafe) private static let observer: CFRunLoopObserver? = {
    let observer = CFRunLoopObserverCreateWithHandler(nil, CFRunLoopActivity.exit.rawValue, true, 0) { _, _ in
      RunLoopSource.mainRunLoopStopped()
    }
    CFRunLoopAddObserver(CFRunLoopGetMain(), observer, kCFRunLoopCommonModes)
    return observer
  }()
}
