// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// How far a transfer is: on one line of a terminal, or as documents for a program; nothing where nobody looks. Any thread
/// may call it.
package final class ProgressBar: Sendable {
  /// How it is shown.
  enum Form: Sendable {
    /// On a line of the terminal at standard error.
    case bar
    /// As documents on standard output.
    case documents
    /// Not at all.
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
  /// A terminal need not be written to more often.
  private static let interval = Duration.milliseconds(100)

  /// Documents with `json`, otherwise a bar, if standard error is a terminal.
  package convenience init(json: Bool, clock: any TimerClock = IOThread.shared) {
    self.init(
      json ? .documents : Style.standardError.isTerminal ? .bar : .nothing, clock: clock,
      columns: { TerminalSize.columns(of: STDERR_FILENO) ?? 80 }, write: { json ? Output.line($0) : Self.draw($0) })
  }

  /// `columns` is asked at each drawing. `write` gets documents as lines without their ends, and what draws the bar.
  /// `wallClock` gives seconds since 1970, UTC, for documents.
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

  /// So many bytes are done. A document is printed for every whole percent; the line is drawn when it is time.
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

  /// Makes place for other lines. What comes later has a pace of its own.
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
    // What a terminal doesn't take of this is no loss.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
