// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Signals that an accessory may have come, for code that waits for one. Of services it is a view of their mirror.
///
/// Devices on the air give no signals: what waits for one searches for it, and its own searches and connections would be signals.
struct ArrivalWatcher: Sendable {
  /// True when something has come, false when the time has passed.
  private let signals: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation
  private let watching: Task<Void, Never>
  private let clock: any TimerClock
  private let blindness: OneShot<Void>

  /// Begins to watch devices, files that have these paths, and what services at these sockets have open.
  init(paths: [String] = [], services: [String] = [], clock: any TimerClock = IOThread.shared) async {
    let (signals, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingOldest(1))
    (self.signals, self.continuation, self.clock) = (signals, continuation, clock)
    let events = try? await KnownDevices.source().events()
    let files = paths.map { FileArrivals(at: $0) }
    let arrivals = services.isEmpty ? nil : ServiceArrivals(of: services, clock: clock)
    let blindness = OneShot<Void>()
    if events == nil { blindness.finish() }
    self.blindness = blindness
    watching = Task {
      await withTaskGroup { group in
        if let events {
          group.addTask {
            for await event in events where event.isArrival { continuation.yield(true) }
          }
        }
        for file in files {
          group.addTask {
            for await _ in file.signals.dropFirst() { continuation.yield(true) }
            blindness.finish()
            continuation.yield(false)
          }
        }
        if let arrivals {
          group.addTask { for await _ in arrivals.signals { continuation.yield(true) } }
        }
      }
      for file in files { file.stop() }
      arrivals?.stop()
    }
  }

  /// Whether devices or a path can't be watched, so that `next` may return only after its time limit.
  var isBlind: Bool { blindness.current != nil }

  /// Returns true when something has come since the last call, and false when `limit` has passed or the task is cancelled.
  @discardableResult
  func next(within limit: Duration?) async -> Bool {
    let timer = limit.map { limit in
      clock.schedule(at: clock.now + limit) { [continuation] in continuation.yield(false) }
    }
    defer { if let timer { clock.cancel(timer) } }
    for await hasCome in signals { return hasCome }
    return false
  }

  func end() {
    watching.cancel()
    continuation.finish()
  }
}

extension DeviceEvent {
  /// Whether a device may have come that isn't on the air.
  fileprivate var isArrival: Bool {
    switch self {
    case .added(let device), .changed(let device, _): device.source != .bluetooth
    case .removed: false
    }
  }
}
