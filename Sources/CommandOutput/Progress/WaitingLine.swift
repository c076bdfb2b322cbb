// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// Tells a person what a command waits for and how long: on the last line of the terminal at standard error. The line goes
/// away when something else is written and when the wait is over. Nothing is shown where nobody looks. Any thread may call
/// it.
package final class WaitingLine: Sendable {
  /// A wait that has begun.
  package struct Wait: Sendable {
    fileprivate let number: Int
    fileprivate let what: String
    fileprivate let start: MonotonicTime
    fileprivate let limit: Duration?
  }

  private struct State: Sendable {
    /// The last is shown.
    var waits: [Wait] = []
    var count = 0
    var isDrawn = false
    /// Whether this wait was shown already.
    var wasDrawn = false
    /// Those who write something else at this moment.
    var writers = 0
    /// Whether the cursor stands at the beginning of a line.
    var isAtLineStart = true
    var timer: TimerToken?
  }

  /// The one of this process.
  package static let shared = WaitingLine(clock: IOThread.shared, columns: { WaitingLine.terminalColumns }) { text in
    let bytes = Array(text.utf8)
    // What a terminal doesn't take of this is no loss.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private let clock: any TimerClock
  private let columns: @Sendable () -> Int?
  private let draw: @Sendable (String) -> Void
  private let state = Locked(State())

  /// Waits that are shorter are not shown.
  private static let delay = Duration.milliseconds(300)
  /// After something else was written, the line is shown again so much later.
  private static let pause = Duration.milliseconds(100)
  private static let erase = "\r\u{1B}[K"

  /// `columns` is asked at each drawing; nil when nobody looks. `draw` gets what draws the line.
  init(clock: any TimerClock, columns: @escaping @Sendable () -> Int?, draw: @escaping @Sendable (String) -> Void) {
    (self.clock, self.columns, self.draw) = (clock, columns, draw)
  }

  /// The width of the terminal at standard error; nil when there is none, when it takes nothing now, or when this process
  /// is in the background.
  private static var terminalColumns: Int? {
    guard Style.standardError.isTerminal, tcgetpgrp(STDERR_FILENO) == getpgrp(), Output.isReady(STDERR_FILENO) else {
      return nil
    }
    return TerminalSize.columns(of: STDERR_FILENO)
  }

  /// Shows what `body` waits for while it runs: "waiting for ./acc". With `limit` the time that is left stands behind it,
  /// otherwise the time that has passed.
  package static func during<Result: Sendable, Failure>(
    _ what: String, limit: Duration? = nil, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let wait = shared.begin(what, limit: limit)
    defer { shared.end(wait) }
    return try await body()
  }

  /// Begins a wait, which `end` ends. `what` may hold text of a device: it is made harmless.
  package func begin(_ what: String, limit: Duration? = nil) -> Wait {
    let start = clock.now
    return state.withLock { state in
      state.count += 1
      let wait = Wait(number: state.count, what: SafeText.escape(what, limit: 300), start: start, limit: limit)
      state.waits.append(wait)
      schedule(at: start + Self.delay, &state)
      return wait
    }
  }

  /// Ends a wait. One that was begun before is shown again.
  package func end(_ wait: Wait) {
    state.withLock { state in
      state.waits.removeAll { $0.number == wait.number }
      clear(&state)
      state.wasDrawn = state.wasDrawn && !state.waits.isEmpty
      guard state.waits.isEmpty, let timer = state.timer else { return }
      clock.cancel(timer)
      state.timer = nil
    }
  }

  // MARK: - Others who write

  /// To be called before something else is written to a terminal: takes the line away.
  package func willWrite() {
    state.withLock { state in
      clear(&state)
      state.writers += 1
    }
  }

  /// To be called afterwards, with the last byte that was written.
  package func didWrite(_ last: UInt8) {
    state.withLock { state in
      state.writers -= 1
      state.isAtLineStart = last == UInt8(ascii: "\n")
      // Soon, but not between two lines that are written at once.
      if state.wasDrawn { schedule(at: clock.now + Self.pause, &state) }
    }
  }

  private func clear(_ state: inout State) {
    if state.isDrawn { draw(Self.erase) }
    state.isDrawn = false
  }

  // MARK: - Drawing

  private func schedule(at time: MonotonicTime, _ state: inout State) {
    if let timer = state.timer { clock.cancel(timer) }
    state.timer = clock.schedule(at: time) { [weak self] in self?.tick() }
  }

  private func tick() {
    let now = clock.now
    state.withLock { state in
      guard let wait = state.waits.last else { return }
      let passed = max(.zero, now - wait.start)
      // At the next whole second.
      schedule(at: wait.start + .seconds(passed.components.seconds + 1), &state)
      guard state.writers == 0, state.isAtLineStart, let columns = columns() else { return }
      draw("\r" + Self.text(wait.what, passed: passed, limit: wait.limit, columns: columns - 1) + "\u{1B}[K")
      (state.isDrawn, state.wasDrawn) = (true, true)
    }
  }

  /// "waiting for ./acc, 4 s left", "waiting for SIM0001 to come back, for 12 s"; what is waited for is cut before the time is.
  static func text(_ what: String, passed: Duration, limit: Duration?, columns: Int) -> String {
    let time =
      limit.map { ", \(ProgressText.time(max(.zero, $0 - passed))) left" }
      ?? ", for \(ProgressText.time(.seconds(passed.components.seconds)))"
    let room = columns - TextWidth.of(time)
    guard TextWidth.of(what) > room else { return what + time }
    let text = room > 1 ? TextWidth.prefix(what[...], columns: room - 1) + "…" + time : time
    return String(TextWidth.prefix(text[...], columns: max(0, columns)))
  }
}
