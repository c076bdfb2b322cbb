// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console

// Work on the serial line: settings, modem lines, break.

extension ConsoleSession {
  /// The limit of the queue of work on the line. A service that lends the line may be slow.
  private static let lineWorkLimit = 8

  /// Queues work on the line, so that the keyboard isn't blocked. Works run one after another; each result comes as an
  /// event.
  func work(on line: LineAction) {
    guard let connection else { return note("not connected: nothing was changed") }
    if line.isChange, let refusal = connection.refusal { return note(refusal.message) }
    guard let control = connection.line else { return note("this is not a serial line: it has no settings") }
    guard lineWorkCount < Self.lineWorkLimit else {
      return note("the line is busy with earlier keys: nothing was changed")
    }
    lineWorkCount += 1
    let (before, happened) = (lineWork, happened)
    lineWork = Task {
      await before?.value
      let result: Result<String, AccessoryError>
      do throws(AccessoryError) { result = .success(try await line.perform(on: control)) } catch {
        result = .failure(error)
      }
      happened.yield(.lineFinished(line, result))
    }
  }

  func finished(_ work: LineAction, _ result: Result<String, AccessoryError>) throws {
    lineWorkCount -= 1
    switch result {
    case .success(let text):
      note(text)
      if work.isChange { try settings.log?.remark(text) }
      // The rate is kept for a reopening by this process. A service sets the profile's rate when it opens the line.
      if case .setBaud(let rate) = work, connection?.servicePath == nil { settings.line.serial.baud = rate }
    case .failure(let error): note(SafeText.escape(error.message, limit: 500))
    }
    showInput()
  }

  /// Asks for a baud rate in place of the input line. An empty line or Ctrl-C keeps the rate.
  func askBaud() {
    guard let connection else { return note("not connected: nothing was changed") }
    guard connection.line != nil else { return note("this is not a serial line: it has no settings") }
    baudEditor = LineEditor()
  }

  func pressForBaud(_ key: Key) {
    switch baudEditor?.handle(key) {
    case .submitted(let text):
      baudEditor = nil
      let digits = text.filter { $0 != " " }
      guard !digits.isEmpty else { return note("the baud rate was not changed") }
      guard let rate = UInt32(digits), rate > 0 else {
        return note(
          "\(SafeText.escape(text, limit: 40)) is not a baud rate, like 9600 or 115200: the baud rate was not changed")
      }
      work(on: .setBaud(rate))
    case .control:
      baudEditor = nil
      note("the baud rate was not changed")
    case .changed, .nothing, nil: break
    }
  }
}
