// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// The events of one accessory that a service reports, for any number of subscribers, until the accessory is unplugged
/// or the service ends.
final class ServiceNews: Sendable {
  private typealias Subscriber = AsyncThrowingStream<AccessoryNews, any Error>.Continuation

  private struct State: Sendable {
    var subscribers: [UInt64: Subscriber] = [:]
    var lastKey: UInt64 = 0
    /// The error that ended the events; `cancelled` after a close by this program.
    var ended: AccessoryError?
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())
  private let label: String

  /// The number of events that are buffered for a subscriber, the same as for a link.
  private static let buffer = 256

  private init(_ label: String) { self.label = label }

  /// Subscribes to the events, and returns when the subscription is complete. Throws `timedOut` when the service takes
  /// longer than `replyTimeout`, and otherwise the errors of subscribing.
  static func follow(_ device: BridgeDevice, replyTimeout: Duration) async throws(AccessoryError) -> ServiceNews {
    let events = try await device.events(values: true)
    let news = ServiceNews(device.label)
    let (isReady, ready) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let task = Task {
      let error = await news.run(events) { ready.finish() }
      news.end(error)
      ready.finish()
    }
    let hasEnded = news.state.withLock { state in
      if state.ended == nil { state.task = task }
      return state.ended != nil
    }
    if hasEnded { task.cancel() }
    let late = AccessoryError(.timedOut, "the service at \(device.client.socketPath) did not answer Subscribe in time")
    let timer = IOThread.shared.schedule(at: .now + replyTimeout) {
      news.end(late)
      ready.finish()
    }
    for await _ in isReady {}
    IOThread.shared.cancel(timer)
    if Task.isCancelled { news.end(AccessoryError(.cancelled, "opening \(device.label) was cancelled")) }
    if let ended = news.ended { throw ended }
    return news
  }

  private func run(_ events: BridgeEvents, ready: () -> Void) async -> AccessoryError {
    do throws(AccessoryError) {
      for try await event in events {
        switch event {
        case .ready: ready()
        case .battery(_, let reading, _): tell(.battery(reading))
        case .status(_, let status, _): tell(.status(status))
        case .values(_, let values, _): tell(.values(values))
        // The accessory may have been attached again, or the service reports its removal like this.
        case .disconnected(_, let error): return error
        case .present, .connected, .requestFailed, .alarm, .found, .changed: break
        }
      }
    } catch {
      return error
    }
    return .disconnected(label)
  }

  /// The error that ended the events and the calls; nil while they work.
  var ended: AccessoryError? { state.withLock { $0.ended } }

  private func tell(_ news: AccessoryNews) {
    for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.yield(news) }
  }

  /// Ends the events: normally for subscribers if `isClosed`, otherwise with `error`.
  private func end(_ error: AccessoryError, isClosed: Bool = false) {
    let (subscribers, task) = state.withLock { state -> ([UInt64: Subscriber], Task<Void, Never>?) in
      guard state.ended == nil else { return ([:], nil) }
      state.ended = error
      defer { (state.subscribers, state.task) = ([:], nil) }
      return (state.subscribers, state.task)
    }
    task?.cancel()
    for subscriber in subscribers.values { subscriber.finish(throwing: isClosed ? nil : error) }
  }

  /// Ends the events normally.
  func close() { end(.closed(label), isClosed: true) }

  /// The events from now on. The stream retains `owner`.
  func subscribe(for owner: ServiceAccessory) -> EventStream<AccessoryNews> {
    let (stream, continuation) = AsyncThrowingStream<AccessoryNews, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.buffer))
    let (key, ended) = state.withLock { state -> (UInt64, AccessoryError?) in
      state.lastKey += 1
      if state.ended == nil { state.subscribers[state.lastKey] = continuation }
      return (state.lastKey, state.ended)
    }
    if let ended { continuation.finish(throwing: ended.kind == .cancelled ? nil : ended) }
    continuation.onTermination = { [weak self] _ in withExtendedLifetime(owner) { self?.forget(key) } }
    return EventStream(stream)
  }

  private func forget(_ key: UInt64) {
    let subscriber = state.withLock { $0.subscribers.removeValue(forKey: key) }
    _ = subscriber  // released outside the lock
  }
}
