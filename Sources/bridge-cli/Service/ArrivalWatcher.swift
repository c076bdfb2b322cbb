// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Signals that a device was plugged in, for code that waits for an accessory.
struct ArrivalWatcher: Sendable {
  private let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let watching: Task<Void, Never>

  /// Begins to watch. Where devices can't be watched, `next` returns only after its time limit.
  init() async {
    let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    (self.signals, self.continuation) = (signals, continuation)
    let events = try? await KnownDevices.source().events()
    watching = Task {
      guard let events else { return }
      for await event in events {
        if case .removed = event { continue }
        continuation.yield()
      }
    }
  }

  /// Returns when a device has come since the last call, when `limit` has passed, or when the task is cancelled.
  func next(within limit: Duration) async {
    let clock = IOThread.shared
    let timer = clock.schedule(at: clock.now + limit) { [continuation] in continuation.yield() }
    for await _ in signals { break }
    clock.cancel(timer)
  }

  func end() {
    watching.cancel()
    continuation.finish()
  }
}
