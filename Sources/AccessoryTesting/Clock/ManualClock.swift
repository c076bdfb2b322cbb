// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A clock that a test moves by hand. Actions run on the thread that moves it.
public final class ManualClock: TimerClock {
  private struct Entry: Sendable {
    var deadline: MonotonicTime
    var id: UInt64
    var action: @Sendable () -> Void
  }

  private struct State: Sendable {
    var now: MonotonicTime
    /// How long the machine was suspended in all.
    var slept = Duration.zero
    var entries: [Entry] = []
    var nextID: UInt64 = 0
    var scheduledCount = 0
    /// Why nothing that a test waits for will come any more.
    var failure: AccessoryError?
    /// The tasks that are over, of those that a wait names.
    var over: Set<UInt64> = []
  }

  private let state: Watched<State>

  /// A clock that shows `now`.
  public init(now: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000)) { state = Watched(State(now: now)) }

  /// The time that the clock shows.
  public var now: MonotonicTime { state.value.now }

  /// The time on a clock that also counts the time in which the machine was suspended.
  public var bootTime: MonotonicTime {
    let state = state.value
    return state.now + state.slept
  }

  /// Simulates a suspension of the machine: `bootTime` moves on by `duration`, `now` doesn't.
  public func suspend(for duration: Duration) { state.update { $0.slept += duration } }

  /// Schedules `action` for `deadline`. It only runs when the clock is moved, even if `deadline` has passed already.
  public func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.update { state in
      state.nextID += 1
      state.scheduledCount += 1
      state.entries.append(Entry(deadline: deadline, id: state.nextID, action: action))
      return TimerToken(rawValue: state.nextID)
    }
  }

  /// Removes a scheduled action. Does nothing if the action has run.
  public func cancel(_ token: TimerToken) {
    state.update { state in state.entries.removeAll { $0.id == token.rawValue } }
  }

  /// Moves the clock on by `duration`. Runs the actions that are due by then, in the order of their deadlines, each at
  /// its own deadline. Actions that these schedule for the same time run, too.
  public func advance(by duration: Duration) {
    let end = now + duration
    while let action = takeNext(until: end) { action() }
    state.update { $0.now = max($0.now, end) }
  }

  /// Moves the clock to the earliest deadline and runs the actions that are due then. Returns false if nothing is
  /// scheduled.
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

  // MARK: - Scheduled actions

  /// How many actions are scheduled and haven't run.
  public var pendingCount: Int { state.value.entries.count }

  /// The earliest deadline; nil if nothing is scheduled.
  public var nextDeadline: MonotonicTime? { deadlines.min() }

  /// All deadlines, in no order.
  package var deadlines: [MonotonicTime] { state.value.entries.map(\.deadline) }

  /// How many actions have been scheduled in all; pass it to `waitForSchedule(after:)`.
  public var scheduledCount: Int { state.value.scheduledCount }

  /// Waits until at least `count` actions are scheduled. Throws `CancellationError` when the task is cancelled, and the error of a
  /// script with this clock whose steps didn't fit.
  public func waitForPending(_ count: Int = 1) async throws { try await wait { $0.entries.count >= count } }

  /// Waits until at least `count` actions are scheduled, as long as `task` runs, which is the code under test. When it ends before
  /// that, throws its error; or `cancelled`, if it has none.
  public func waitForPending<Success: Sendable, Failure: Error>(
    _ count: Int = 1, during task: Task<Success, Failure>
  ) async throws {
    let id = state.update { state in
      state.nextID += 1
      return state.nextID
    }
    let end = Task { [state] in
      _ = await task.result
      if !Task.isCancelled { state.update { _ = $0.over.insert(id) } }
    }
    defer { end.cancel() }
    try await wait { $0.entries.count >= count || $0.over.contains(id) }
    guard state.update({ $0.over.remove(id) }) != nil, pendingCount < count else { return }
    _ = try await task.value
    throw AccessoryError(.cancelled, "the code under test ended, and nothing waits for the clock")
  }

  /// Waits until more than `count` actions have been scheduled in all. Throws what `waitForPending` throws.
  public func waitForSchedule(after count: Int) async throws { try await wait { $0.scheduledCount > count } }

  private func wait(until condition: @escaping @Sendable (State) -> Bool) async throws {
    let last = try await state.wait { $0.failure != nil || condition($0) }
    if let failure = last.failure { throw failure }
  }

  /// Has all waits throw this error, now and later.
  func fail(_ error: AccessoryError) { state.update { $0.failure = $0.failure ?? error } }
}
