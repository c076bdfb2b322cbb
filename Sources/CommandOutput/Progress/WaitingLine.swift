// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// Shows what a command waits for, and how long: on the last line of the terminal at standard error. The line is
/// cleared before other output and when the wait ends. Nothing is shown where standard error is no terminal. May be
/// called from any thread.
package final class WaitingLine: Sendable {
  /// A wait that has begun.
  package struct Wait: Sendable {
    fileprivate let number: Int
    fileprivate let what: String
    fileprivate let start: MonotonicTime
    fileprivate let limit: Duration?
  }

  private struct State: Sendable {
    /// The waits that haven't ended. The last one is shown.
    var waits: [Wait] = []
    var count = 0
    var isDrawn = false
    /// Whether the current wait was shown before.
    var wasDrawn = false
    /// The number of threads that are writing other output now.
    var writers = 0
    /// Whether the cursor is at the beginning of a line.
    var isAtLineStart = true
    var timer: TimerToken?
  }

  /// The line of this process.
  package static let shared = WaitingLine(
    clock: IOThread.shared, isTerminal: Style.standardError.isTerminal, columns: { WaitingLine.terminalColumns }
  ) { text in
    let bytes = Array(text.utf8)
    // A drawing that the terminal doesn't accept is lost; the next one replaces it.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private let clock: any TimerClock
  private let isTerminal: Bool
  private let columns: @Sendable () -> Int?
  private let draw: @Sendable (String) -> Void
  private let state = Locked(State())

  /// Shorter waits are not shown.
  private static let delay = Duration.milliseconds(300)
  /// The delay after other output before the line is shown again.
  private static let pause = Duration.milliseconds(100)
  private static let erase = "\r\u{1B}[K"

  /// Without a terminal nothing is drawn, and no timer is started. `columns` is called for each drawing, and returns
  /// nil when nothing can be shown now. `draw` receives the text that draws the line.
  init(
    clock: any TimerClock, isTerminal: Bool = true, columns: @escaping @Sendable () -> Int?,
    draw: @escaping @Sendable (String) -> Void
  ) {
    (self.clock, self.isTerminal, self.columns, self.draw) = (clock, isTerminal, columns, draw)
  }

  /// The width of the terminal at standard error; nil when there is none, when it accepts no output now, or when this
  /// process is in the background.
  private static var terminalColumns: Int? {
    guard tcgetpgrp(STDERR_FILENO) == getpgrp(), Output.isReady(STDERR_FILENO) else {
      return nil
    }
    return TerminalSize.columns(of: STDERR_FILENO)
  }

  /// Shows `what` ("waiting for ./acc") while `body` runs. With `limit` the remaining time follows it, otherwise the
  /// elapsed time.
  package static func during<Result: Sendable, Failure>(
    _ what: String, limit: Duration? = nil, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let wait = shared.begin(what, limit: limit)
    defer { shared.end(wait) }
    return try await body()
  }

  /// Begins a wait, which is to be ended with `end`. `what` may contain text of a device, since it is escaped.
  package func begin(_ what: String, limit: Duration? = nil) -> Wait {
    let start = clock.now
    return state.withLock { state in
      state.count += 1
      let wait = Wait(number: state.count, what: SafeText.escape(what, limit: 300), start: start, limit: limit)
      // Without a terminal no timer is needed.
      guard isTerminal else { return wait }
      state.waits.append(wait)
      schedule(at: start + Self.delay, &state)
      return wait
    }
  }

  /// Ends a wait. A wait that was begun before it is shown again.
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

  // MARK: - Other output

  /// To be called before other output to a terminal: clears the line.
  package func willWrite() {
    state.withLock { state in
      clear(&state)
      state.writers += 1
    }
  }

  /// To be called after other output, with the last byte that was written.
  package func didWrite(_ last: UInt8) {
    state.withLock { state in
      state.writers -= 1
      state.isAtLineStart = last == UInt8(ascii: "\n")
      // After a pause, so that the line doesn't flicker between two lines that are written in a row.
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
      // Redrawn at each whole second.
      schedule(at: wait.start + .seconds(passed.components.seconds + 1), &state)
      guard state.writers == 0, state.isAtLineStart, let columns = columns() else { return }
      draw("\r" + Self.text(wait.what, passed: passed, limit: wait.limit, columns: columns - 1) + "\u{1B}[K")
      (state.isDrawn, state.wasDrawn) = (true, true)
    }
  }

  /// "waiting for ./acc, 4 s left", "waiting for SIM0001 to come back, for 12 s". A text that doesn't fit is cut, but
  /// not the time.
  static func text(_ what: String, passed: Duration, limit: Duration?, columns: Int) -> String {
    let time =
      limit.map { ", \(ProgressText.time(max(.zero, $0 - passed))) left" }
      ?? ", for \(ProgressText.time(.seconds(passed.components.seconds)))"
    let room = columns - TextWidth.of(time)
    guard TextWidth.of(what) > room else { return what + time }
    let text = room > 1 ? TextCut.text(what, columns: room) + time : time
    return String(TextWidth.prefix(text[...], columns: max(0, columns)))
  }
}
