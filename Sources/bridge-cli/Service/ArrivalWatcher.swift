// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Signals that a device was plugged in, for code that waits for an accessory.
struct ArrivalWatcher: Sendable {
  /// True when a device has come, false when the time has passed.
  private let signals: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation
  private let watching: Task<Void, Never>

  /// Begins to watch. Where devices can't be watched, `next` returns only after its time limit.
  init() async {
    let (signals, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
    (self.signals, self.continuation) = (signals, continuation)
    let events = try? await KnownDevices.source().events()
    watching = Task {
      guard let events else { return }
      for await event in events {
        if case .removed = event { continue }
        continuation.yield(true)
      }
    }
  }

  /// Returns true when a device has come since the last call, and false when `limit` has passed or the task is cancelled.
  @discardableResult
  func next(within limit: Duration) async -> Bool {
    let clock = IOThread.shared
    let timer = clock.schedule(at: clock.now + limit) { [continuation] in continuation.yield(false) }
    defer { clock.cancel(timer) }
    for await hasCome in signals { return hasCome }
    return false
  }

  func end() {
    watching.cancel()
    continuation.finish()
  }
}
