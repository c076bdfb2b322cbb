// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// The progress of a transfer: one line on a terminal, or documents for a program. Nothing is shown where standard
/// error is no terminal. May be called from any thread.
package final class ProgressBar: Sendable {
  /// The form of the output.
  enum Form: Sendable {
    /// A line on the terminal at standard error.
    case bar
    /// Documents on standard output.
    case documents
    /// No output.
    case nothing
  }

  private struct State: Sendable {
    var pace = TransferPace()
    var percent = -1
    var drawn: MonotonicTime?
  }

  private let form: Form
  private let clock: any TimerClock
  private let columns: @Sendable () -> Int
  private let write: @Sendable (String) -> Void
  private let wallClock: @Sendable () -> Double
  private let state = Locked(State())
  /// The shortest time between two drawings on a terminal.
  private static let interval = Duration.milliseconds(100)

  /// Documents if `json`; otherwise a line, if standard error is a terminal.
  package convenience init(json: Bool, clock: any TimerClock = IOThread.shared) {
    self.init(
      json ? .documents : Style.standardError.isTerminal ? .bar : .nothing, clock: clock,
      columns: { TerminalSize.columns(of: STDERR_FILENO) ?? 80 }, write: { json ? Output.line($0) : Self.draw($0) })
  }

  /// `columns` is called for each drawing. `write` receives documents without line ends, or the text that draws the
  /// line. `wallClock` returns seconds since 1970, UTC, for the documents.
  init(
    _ form: Form, clock: any TimerClock, columns: @escaping @Sendable () -> Int,
    write: @escaping @Sendable (String) -> Void, wallClock: @escaping @Sendable () -> Double = { WallClock.seconds }
  ) {
    self.wallClock = wallClock
    self.form = form
    self.clock = clock
    self.columns = columns
    self.write = write
  }

  /// `done` of `total` bytes are transferred. A document is printed for each whole percent; the line is drawn at most
  /// every 100 ms.
  package func show(_ done: Int, _ total: Int) {
    let now = clock.now
    let percent = ProgressText.percent(done, total)
    let pace = state.withLock { state -> TransferPace? in
      state.pace.note(done, at: now)
      let isNew = state.percent != percent
      let isTime = state.drawn.map { now - $0 >= Self.interval } ?? true
      guard form == .bar ? isTime || isNew && percent == 100 : isNew else { return nil }
      (state.percent, state.drawn) = (percent, now)
      return state.pace
    }
    guard let pace else { return }
    let (rate, left) = (pace.rate, pace.timeLeft(of: total))
    switch form {
    case .nothing: break
    case .documents:
      let document = ProgressDocument(
        done: done, total: total, percent: percent, rate: rate, left: left, at: wallClock())
      if let line = DocumentText.line(document) { write(line) }
    case .bar:
      let line = ProgressText.line(done: done, total: total, rate: rate, timeLeft: left, columns: columns())
      write("\r\(line)\u{1B}[K")
    }
  }

  /// Clears the line, for other output. The measurement of the rate starts again after this.
  package func clear() {
    let isDrawn = state.withLock { state in
      defer { (state.drawn, state.percent) = (nil, -1) }
      state.pace.interrupt()
      return state.drawn != nil
    }
    if isDrawn, form == .bar { write("\r\u{1B}[K") }
  }

  private static func draw(_ text: String) {
    let bytes = Array(text.utf8)
    // A drawing that the terminal doesn't accept is lost; the next one replaces it.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
