// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Reports when a service may have started: at once, and whenever a file is created in its socket's folder.
package final class ServiceStarts: Sendable {
  /// The events, for one reader. The stream ends after the first event if the folder can't be watched.
  package let signals: AsyncStream<Void>
  private let watcher: FileWatcher?

  /// The socket's file exists a moment before the service listens.
  private static let pause = Duration.milliseconds(100)

  /// Starts to watch the folder of the socket at `place`.
  package init(at place: String) {
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    let directory = "/" + place.split(separator: "/").dropLast().joined(separator: "/")
    watcher = try? FileWatcher(directory, for: .created) { _ in
      _ = IOThread.shared.schedule(at: .now + Self.pause) { continuation.yield() }
    }
    continuation.yield()
    if watcher == nil { continuation.finish() }
  }

  /// Stops watching. Must be called in the end.
  package func stop() { watcher?.stop() }
}
