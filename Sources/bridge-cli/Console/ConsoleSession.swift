// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import CommandOutput
import Console
import Glibc

/// A person at a terminal, and an accessory: what is typed goes there, what comes is shown, until Ctrl-].
///
/// Everything that happens comes as an event, one after another, to the one task that runs this.
final class ConsoleSession {
  enum Event: Sendable {
    /// Nothing: the terminal is gone.
    case typed([UInt8])
    case arrived([UInt8])
    case gone(AccessoryError?)
    case back(ConsoleOpening)
    case resized, continued
    /// What came of something that was done to the line.
    case lineTold(LineWork, Result<String, AccessoryError>)
    /// No more keys came for a while, or no more bytes; with the count of those that had come.
    case keysPaused(Int)
    case silence(Int)
  }

  let name: String?
  var line: LineOptions
  /// Whether what is typed may change something in the accessory.
  let write: Bool
  let log: ConsoleLog?
  var input: ConsoleInput
  var eol: LineEnding
  var hasTimestamps: Bool

  let events: AsyncStream<Event>
  let happened: AsyncStream<Event>.Continuation
  let keyboard: StandardInput
  var opening: ConsoleOpening?
  var device: Device
  /// The name of the driver for its kind, if that is known.
  let driver: String?
  var listener: ConsoleListener?
  var returning: Task<Void, Never>?

  var screen = ConsoleScreen(columns: TerminalGuard.columns)
  var editor = LineEditor()
  var decoder = KeyDecoder()
  var received: ReceivedView
  var robot: (any RobotKeys)?
  var lastKey = ""
  var isPrefixed = false
  var (typedCount, arrivedCount) = (0, 0)
  /// What is done to the line, one thing after the other; and how many wait for that.
  var lineWork: Task<Void, Never>?
  var lineWorkCount = 0
  /// Where a baud rate is typed; nil while none is asked for.
  var baudEditor: LineEditor?

  /// The key that ends it, and the one before a key that changes something.
  static let (exitKey, prefixKey): (UInt8, UInt8) = (0x1D, 0x14)
  private static let baudPrompt = "baud> "
  /// How long an escape byte waits for the rest of its sequence.
  static let escapeTime = Duration.milliseconds(50)

  init(
    _ opening: ConsoleOpening, name: String?, _ line: LineOptions, write: Bool, input: ConsoleInput, view: ConsoleView,
    eol: LineEnding, hasTimestamps: Bool, log: ConsoleLog?
  ) {
    (self.name, self.line, self.write, self.log) = (name, line, write, log)
    (self.input, self.eol, self.hasTimestamps) = (input, eol, hasTimestamps)
    (self.opening, device, driver) = (opening, opening.device, opening.driver)
    received = ReceivedView(view, silence: opening.silence, driver: opening.driver)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  // MARK: - The whole

  /// Runs until Ctrl-], or until the task is cancelled. The terminal is as it was before, then. Throws when the log can't
  /// be written.
  func run() async throws {
    if input == .keys {
      do throws(AccessoryError) {
        robot = try await robotKeys(for: driver)
      } catch {
        opening?.beginClose()
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
    // Keys that were typed while it was being opened would all be sent at once, to a robot that nobody looks at yet.
    if input == .keys { TerminalGuard.discardInput() }
    defer {
      listener?.cancel()
      returning?.cancel()
      lineWork?.cancel()
      show { $0.finish() }
      TerminalGuard.restore()
    }
    if let opening { try connected(opening) }
    note("Ctrl-] ends, Ctrl-T ? shows what else there is")
    showInput()
    keyboard.resume()
    let failure: (any Error)?
    do {
      for await event in events where try await handle(event) { break }
      failure = nil
    } catch { failure = error }
    let last = opening
    opening = nil
    await last?.close()
    if let failure { throw failure }
    try log?.remark("ended")
    try Task.checkCancellation()
  }

  /// True when it is to end.
  func handle(_ event: Event) async throws -> Bool {
    switch event {
    case .typed(let bytes):
      if try await typed(bytes) { return true }
      keyboard.resume()
    case .arrived(let bytes):
      try log?.bytes("received", bytes)
      arrivedCount += 1
      show(received.take(bytes))
      let count = arrivedCount
      if let patience = received.patience { after(patience) { .silence(count) } }
      listener?.goOn()
    case .silence(let count): if count == arrivedCount { show(received.silent()) }
    case .keysPaused(let count):
      guard count == typedCount else { break }
      var keys: [Key] = []
      decoder.flush(into: &keys)
      try press(keys)
    case .gone(let error): try await gone(error)
    case .back(let opening): try connected(opening)
    case .lineTold(let work, let result): try told(work, result)
    case .resized:
      let columns = TerminalGuard.columns
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
    let stamp = hasTimestamps ? "[\(WallClock.timeOfDayWithMilliseconds)] " : ""
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

  /// The same; what doesn't fit goes on in lines with so many blanks more.
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
    let away = opening == nil ? "(gone) " : ""
    if let baudEditor {
      let view = baudEditor.view(columns: screen.room(prompt: Self.baudPrompt))
      return show { $0.setInput((Self.baudPrompt, view.text, view.cursor)) }
    }
    switch input {
    case .raw: show { $0.setInput(nil) }
    case .keys:
      let text = TextWidth.prefix(Substring(lastKey), columns: screen.room(prompt: away + "[keys] "))
      show { $0.setInput((away + "[keys] ", String(text), TextWidth.of(text))) }
    case .line, .hex:
      let prompt = away + (input == .hex ? "hex> " : "> ")
      let view = editor.view(columns: screen.room(prompt: prompt))
      show { $0.setInput((prompt, view.text, view.cursor)) }
    }
  }
}
