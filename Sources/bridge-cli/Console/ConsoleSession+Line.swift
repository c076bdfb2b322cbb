// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console

// What is done to the line beside its bytes.

extension ConsoleSession {
  /// So many wait for each other at most: a service that lends the line may be slow.
  private static let lineWorkLimit = 8

  /// Does it without keeping the keyboard waiting; what came of it is told as an event. One is done after the other.
  func work(on line: LineWork) {
    guard let opening else { return note("not connected: nothing was changed") }
    guard !opening.isReadOnly || !line.isChange else { return note(ConsoleOpening.readOnly) }
    guard let control = opening.line else { return note("there is no serial line here that could be asked or set") }
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
      happened.yield(.lineTold(line, result))
    }
  }

  func told(_ work: LineWork, _ result: Result<String, AccessoryError>) throws {
    lineWorkCount -= 1
    switch result {
    case .success(let text):
      note(text)
      if work.isChange { try log?.remark(text) }
      // It comes back as it was left; a service that lends it opens it by the profile.
      if case .setBaud(let rate) = work, opening?.lender == nil { line.serial.baud = rate }
    case .failure(let error): note(SafeText.escape(error.message, limit: 500))
    }
    showInput()
  }

  /// A rate is typed in place of a line; nothing, or Ctrl-C, leaves it as it is.
  func askBaud() {
    guard let opening else { return note("not connected: nothing was changed") }
    guard opening.line != nil else { return note("there is no serial line here that could be asked or set") }
    baudEditor = LineEditor()
  }

  func pressForBaud(_ key: Key) {
    switch baudEditor?.handle(key) {
    case .submitted(let text):
      baudEditor = nil
      let digits = text.filter { $0 != " " }
      guard !digits.isEmpty else { return note("the rate stays as it is") }
      guard let rate = UInt32(digits), rate > 0 else {
        return note("\(SafeText.escape(text, limit: 40)) is no baud rate, like 9600 or 115200: the rate stays as it is")
      }
      work(on: .setBaud(rate))
    case .control:
      baudEditor = nil
      note("the rate stays as it is")
    case .changed, .nothing, nil: break
    }
  }
}
