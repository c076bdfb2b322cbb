// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A clock that stands still until a test moves it. Actions run on the thread that moves it.
public final class ManualClock: TimerClock {
  private struct Entry: Sendable {
    var deadline: MonotonicTime
    var id: UInt64
    var action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var now: MonotonicTime
    /// How long the machine has slept.
    var slept = Duration.zero
    var entries: [Entry] = []
    var nextID: UInt64 = 0
    var scheduledCount = 0
  }

  private let state: Watched<State>

  /// A clock that shows `now`.
  public init(now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) { state = Watched(State(now: now)) }

  /// The moment the clock shows.
  public var now: MonotonicTime { state.value.now }

  /// The moment on a clock that also counts the time in which the machine slept.
  public var bootTime: MonotonicTime {
    let state = state.value
    return state.now + state.slept
  }

  /// Lets the machine sleep so long: `now` stands still, `bootTime` doesn't.
  public func suspend(for duration: Duration) { state.update { $0.slept += duration } }

  /// Keeps `action` until the clock is moved to `deadline`. Never runs it at once, not even when it is due already.
  public func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.update { state in
      state.nextID += 1
      state.scheduledCount += 1
      state.entries.append(Entry(deadline: deadline, id: state.nextID, action: action))
      return TimerToken(rawValue: state.nextID)
    }
  }

  /// Forgets an action.
  public func cancel(_ token: TimerToken) {
    state.update { state in state.entries.removeAll { $0.id == token.rawValue } }
  }

  /// Moves the clock on and runs what is due by then, earliest first, each at its own moment; also what those
  /// actions schedule in turn.
  public func advance(by duration: Duration) {
    let end = now + duration
    while let action = takeNext(until: end) { action() }
    state.update { $0.now = max($0.now, end) }
  }

  /// Moves the clock to the earliest deadline and runs what is due then; false when nothing is scheduled.
  @discardableResult
  public func advanceToNext() -> Bool {
    guard let next = nextDeadline else { return false }
    advance(by: max(.zero, next - now))
    return true
  }

  private func takeNext(until end: MonotonicTime) -> (@Sendable () -> Void)? {
    state.update { state -> (@Sendable () -> Void)? in
      let next = state.entries.indices.min {
        (state.entries[$0].deadline, state.entries[$0].id) < (state.entries[$1].deadline, state.entries[$1].id)
      }
      guard let next, state.entries[next].deadline <= end else { return nil }
      let entry = state.entries.remove(at: next)
      state.now = max(state.now, entry.deadline)
      return entry.action
    }
  }

  // MARK: - What is scheduled

  /// Actions that wait for their moment.
  public var pendingCount: Int { state.value.entries.count }

  /// The earliest deadline, if anything is scheduled.
  public var nextDeadline: MonotonicTime? { state.value.entries.map(\.deadline).min() }

  /// How many actions were ever scheduled; to be handed to `waitForSchedule(after:)`.
  public var scheduledCount: Int { state.value.scheduledCount }

  /// Waits until at least `count` actions are pending.
  public func waitForPending(_ count: Int = 1) async throws { try await state.wait { $0.entries.count >= count } }

  /// Waits until something was scheduled that `count` doesn't include.
  public func waitForSchedule(after count: Int) async throws { try await state.wait { $0.scheduledCount > count } }
}
