// SPDX-License-Identifier: Apache-2.0

/// Events for any number of consumers, which come and go, until the events end for all of them. Any thread may call the functions.
package final class EventHub<Element: Sendable>: Sendable {
  private typealias Continuation = AsyncThrowingStream<Element, any Error>.Continuation

  private struct State: Sendable {
    var consumers: [Int: Continuation] = [:]
    var next = 0
    var end: Result<Void, AccessoryError>?
  }

  private let state = Locked(State())
  private let limit: Int

  /// A hub whose consumers may be `limit` events behind; then they lose the oldest.
  package init(limit: Int) { self.limit = limit }

  /// Whether anybody listens.
  package var hasConsumers: Bool { state.withLock { !$0.consumers.isEmpty } }

  /// How the events have ended: normally, or with an error; nil while they go on.
  package var end: Result<Void, AccessoryError>? { state.withLock { $0.end } }

  /// The events from now on. For one consumer. Throws the error with which they end.
  package func stream() -> EventStream<Element> {
    let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(limit))
    let (key, end) = state.withLock { state in
      defer { state.next += 1 }
      if state.end == nil { state.consumers[state.next] = continuation }
      return (state.next, state.end)
    }
    switch end {
    case nil: continuation.onTermination = { [weak self] _ in self?.forget(key) }
    case .success?: continuation.finish()
    case .failure(let error)?: continuation.finish(throwing: error)
    }
    return EventStream(stream)
  }

  private func forget(_ key: Int) { _ = state.withLock { $0.consumers.removeValue(forKey: key) } }

  /// Tells all consumers of an event.
  package func send(_ element: Element) {
    for consumer in state.withLock({ Array($0.consumers.values) }) { consumer.yield(element) }
  }

  /// Ends the events for all consumers, and for those that come later; with nil normally. Only the first call has an effect.
  package func finish(_ error: AccessoryError?) {
    let consumers = state.withLock { state -> [Continuation] in
      guard state.end == nil else { return [] }
      state.end = error.map { .failure($0) } ?? .success(())
      defer { state.consumers = [:] }
      return Array(state.consumers.values)
    }
    for consumer in consumers { consumer.finish(throwing: error) }
  }
}
