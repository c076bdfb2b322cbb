// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import CommandOutput
import Console
import Glibc

/// A console at a terminal: typed bytes go to the accessory, received bytes are shown, until Ctrl-].
///
/// Everything that happens is an event. One task handles the events one after another.
final class ConsoleSession {
  enum Event: Sendable {
    /// Typed bytes; empty when the terminal is gone.
    case typed([UInt8])
    case arrived([UInt8])
    case gone(AccessoryError?)
    case back(ConsoleConnection)
    case resized, continued
    /// The result of work on the serial line.
    case lineFinished(LineAction, Result<String, AccessoryError>)
    /// No more keys were typed, or no more bytes received, for a while. The value is the count at the time when the
    /// timer started.
    case keysPaused(Int)
    case silence(Int)
  }

  var settings: ConsoleSettings
  let events: AsyncStream<Event>
  let happened: AsyncStream<Event>.Continuation
  let keyboard: StandardInput
  var connection: ConsoleConnection?
  var device: Device
  /// The name of the accessory's driver, if it is known.
  let driver: String?
  var listener: ConsoleListener?
  var returning: Task<Void, Never>?
  let pauses = ReturnPauses()

  var screen = ConsoleScreen(columns: TerminalSize.columns(of: STDOUT_FILENO) ?? 80)
  var editor = LineEditor()
  var decoder = KeyDecoder()
  var received: ReceivedView
  var robot: RobotKeys?
  var lastKey = ""
  var isPrefixed = false
  var (typedCount, arrivedCount) = (0, 0)
  /// The last queued work on the serial line, and the number of works that haven't ended.
  var lineWork: Task<Void, Never>?
  var lineWorkCount = 0
  /// The input line for a baud rate; nil while the console doesn't ask for one.
  var baudEditor: LineEditor?

  /// Ctrl-] ends the console; Ctrl-T precedes a key that changes a setting.
  static let (exitKey, prefixKey): (UInt8, UInt8) = (0x1D, 0x14)
  private static let baudPrompt = "baud> "
  /// How long an escape byte waits for the rest of its key sequence.
  static let escapeTime = Duration.milliseconds(50)

  init(_ connection: ConsoleConnection, _ settings: ConsoleSettings) {
    self.settings = settings
    (self.connection, device, driver) = (connection, connection.device, connection.driver)
    received = ReceivedView(
      settings.view, colours: settings.colours, silence: connection.silence, driver: connection.driver)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  // MARK: - Running

  /// Runs until Ctrl-], or until the task is cancelled, and then restores the terminal. Throws when the log can't be
  /// written.
  func run() async throws {
    if settings.input == .keys {
      do throws(AccessoryError) {
        robot = try await RobotKeys(for: driver)
      } catch {
        connection?.beginClose()
        throw error
      }
    }
    let happened = happened
    TerminalStops.watch {
      happened.yield(.resized)
    } continued: {
      happened.yield(.continued)
    }
    guard TerminalGuard.begin() else { throw AccessoryError(.ioFailure, "the terminal's settings can't be read") }
    // Keys typed before the accessory was open would all be sent at once, to a robot that nobody is watching yet.
    if settings.input == .keys { TerminalGuard.discardInput() }
    defer {
      listener?.cancel()
      returning?.cancel()
      lineWork?.cancel()
      show { $0.finish() }
      TerminalGuard.restore()
    }
    if let connection { try connected(connection) }
    note("Ctrl-] ends the console, Ctrl-T ? lists its keys")
    showInput()
    keyboard.resume()
    let failure: (any Error)?
    do {
      for await event in events where try await handle(event) { break }
      failure = nil
    } catch { failure = error }
    let last = connection
    connection = nil
    await last?.close()
    if let failure { throw failure }
    try settings.log?.remark("ended")
    try Task.checkCancellation()
  }

  /// Handles an event; true when the console is to end.
  func handle(_ event: Event) async throws -> Bool {
    switch event {
    case .typed(let bytes):
      if try await typed(bytes) { return true }
      keyboard.resume()
    case .arrived(let bytes):
      try settings.log?.bytes("received", bytes)
      arrivedCount += 1
      show(received.take(bytes))
      let count = arrivedCount
      if let silenceTimeout = received.silenceTimeout { after(silenceTimeout) { .silence(count) } }
      listener?.takeNext()
    case .silence(let count): if count == arrivedCount { show(received.silent()) }
    case .keysPaused(let count):
      guard count == typedCount else { break }
      var keys: [Key] = []
      decoder.flush(into: &keys)
      try press(keys)
    case .gone(let error): try await gone(error)
    case .back(let connection): try connected(connection)
    case .lineFinished(let work, let result): try finished(work, result)
    case .resized:
      let columns = TerminalSize.columns(of: STDOUT_FILENO) ?? 80
      show { $0.resize(columns: columns) }
      showInput()
    case .continued:
      show { $0.redraw() }
      showInput()
    }
    return false
  }

  func after(_ time: Duration, _ event: @escaping @Sendable () -> Event) {
    _ = IOThread.shared.schedule(at: IOThread.shared.now + time) { [happened] in happened.yield(event()) }
  }

  // MARK: - The screen

  func show(_ body: (inout ConsoleScreen) -> String) { Output.text(body(&screen)) }

  func show(_ parts: [ReceivedView.Part]) {
    if parts.isEmpty { return }
    let stamp = settings.hasTimestamps ? "[\(WallClock.timeOfDayWithMilliseconds)] " : ""
    let output = screen.together { screen in
      parts.reduce(into: "") { output, part in
        switch part {
        case .text(let text): output += screen.write((screen.isAmidLine ? "" : stamp) + text)
        case .newline: output += screen.newline()
        case .line(let line):
          for line in TextWrap.lines(stamp + line, columns: screen.width, indent: TraceView.indent(screen.width)) {
            output += screen.line(line)
          }
        case .bytes: break
        }
      }
    }
    Output.text(output)
    for case .bytes(let bytes) in parts { Output.bytes(bytes) }
  }

  func note(_ text: String) {
    note(text, indent: 0)
  }

  /// Prints a note. Continued lines are indented by `indent` more columns.
  func note(_ text: String, indent: Int) {
    for line in TextWrap.lines("--- \(text)", columns: screen.width, indent: 4 + indent) {
      show { $0.line(Style.standardOutput.dim(line)) }
    }
  }

  func sent(_ text: String) {
    let line = Style.standardOutput.green("> \(text)")
    show { $0.line(line) }
  }

  func showInput() {
    let away = connection == nil ? "(gone) " : ""
    if let baudEditor {
      let view = baudEditor.view(columns: screen.room(prompt: Self.baudPrompt))
      return show { $0.setInput((Self.baudPrompt, view.text, view.cursor)) }
    }
    switch settings.input {
    case .raw: show { $0.setInput(nil) }
    case .keys:
      let text = TextWidth.prefix(Substring(lastKey), columns: screen.room(prompt: away + "[keys] "))
      show { $0.setInput((away + "[keys] ", String(text), TextWidth.of(text))) }
    case .line, .hex:
      let prompt = away + (settings.input == .hex ? "hex> " : "> ")
      let view = editor.view(columns: screen.room(prompt: prompt))
      show { $0.setInput((prompt, view.text, view.cursor)) }
    }
  }
}
