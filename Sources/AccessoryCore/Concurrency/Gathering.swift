// SPDX-License-Identifier: Apache-2.0

/// Events on their way to work that costs more than their arrival, such as the reading that follows from a message. This is the one rule
/// for what accessories send by themselves, so that none of them, however fast it sends, takes more than a little of the machine.
///
/// Events are handed over one by one, up to `atOnce` together and `perSecond` on average. What comes meanwhile is gathered: of each kind
/// the newest, until the next group is due. So what stays for a tenth of a second is never missed, and what was sent last always arrives.
/// While nothing comes there is no timer.
package final class Gathering<Element: Sendable, Kind: Hashable & Sendable>: Sendable {
  /// How many events or groups are handed over together, and per second.
  package static var atOnce: Int { 16 }
  package static var perSecond: Double { 10 }
  /// The most kinds that are kept at a time. With more, the oldest event is lost.
  package static var kindLimit: Int { 256 }

  private struct State: Sendable {
    var limit = RateLimit(atOnce: Gathering.atOnce, perSecond: Gathering.perSecond)
    /// The events that are handed over each by itself, before the others.
    var single: [Element] = []
    /// The newest event of each kind, with the number of its arrival.
    var newest: [Kind: (order: UInt64, element: Element)] = [:]
    var order: UInt64 = 0
    var end: Result<Void, AccessoryError>?
    /// Wakes the consumer: at the next event, or only at the end, since it waits for the next group.
    var wake: OneShot<Void>?
    var wakesAtEvent = false
  }

  private enum Step {
    case group([Element])
    case end(AccessoryError?)
    case wait(OneShot<Void>, until: MonotonicTime?)
  }

  private let state = Locked(State())
  private let clock: any TimerClock

  /// Gathers nothing yet.
  package init(clock: any TimerClock) { self.clock = clock }

  /// Adds an event. Any thread may call this.
  package func put(_ element: Element, of kind: Kind) {
    let now = clock.now
    let wake = state.withLock { state -> OneShot<Void>? in
      let wake = state.wakesAtEvent ? state.wake : nil
      if state.newest.isEmpty, state.single.count < Self.atOnce, state.limit.admit(now: now) {
        state.single.append(element)
        return wake
      }
      if state.newest[kind] == nil, state.newest.count >= Self.kindLimit,
        let oldest = state.newest.min(by: { $0.value.order < $1.value.order })
      {
        state.newest[oldest.key] = nil
      }
      state.order += 1
      state.newest[kind] = (state.order, element)
      return wake
    }
    wake?.finish()
  }

  /// No more events come. What was gathered is handed over at once, before the end.
  package func end(_ error: AccessoryError?) {
    let wake = state.withLock { state in
      state.end = state.end ?? error.map { .failure($0) } ?? .success(())
      return state.wake
    }
    wake?.finish()
  }

  /// The next events, in the order in which they came; nil at the end, or when the task is cancelled. For one consumer. Throws the error
  /// with which the events end.
  package func next() async throws(AccessoryError) -> [Element]? {
    while !Task.isCancelled {
      switch state.withLock({ Self.step(&$0, now: clock.now) }) {
      case .group(let group): return group
      case .end(let error?): throw error
      case .end(nil): return nil
      case .wait(let wake, nil): await wake.value(whenCancelled: ())
      case .wait(let wake, let time?):
        let timer = clock.schedule(at: time) { wake.finish() }
        await wake.value(whenCancelled: ())
        clock.cancel(timer)
      }
    }
    return nil
  }

  private static func step(_ state: inout State, now: MonotonicTime) -> Step {
    state.wake = nil
    if !state.single.isEmpty { return .group([state.single.removeFirst()]) }
    if state.newest.isEmpty, let end = state.end {
      if case .failure(let error) = end { return .end(error) }
      return .end(nil)
    }
    let isEmpty = state.newest.isEmpty
    if !isEmpty, state.end != nil || state.limit.admit(now: now) {
      defer { state.newest = [:] }
      return .group(state.newest.values.sorted { $0.order < $1.order }.map(\.element))
    }
    let wake = OneShot<Void>()
    (state.wake, state.wakesAtEvent) = (wake, isEmpty)
    return .wait(wake, until: isEmpty ? nil : state.limit.next(after: now))
  }
}

extension EventStream {
  /// The same events in groups: of those that come too fast, the newest of each kind.
  package func gathered<Kind: Hashable & Sendable>(
    on clock: any TimerClock, by kind: @escaping @Sendable (Element) -> Kind
  ) -> EventStream<[Element]> {
    let gathering = Gathering<Element, Kind>(clock: clock)
    let events = self
    let filling = Filling(
      Task {
        do throws(AccessoryError) {
          for try await event in events { gathering.put(event, of: kind(event)) }
          gathering.end(nil)
        } catch {
          gathering.end(error)
        }
      })
    return EventStream<[Element]>(
      AsyncThrowingStream {
        defer { withExtendedLifetime(filling) {} }
        return try await gathering.next()
      })
  }
}

/// A task that ends with the stream that it fills.
private final class Filling: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }
}
