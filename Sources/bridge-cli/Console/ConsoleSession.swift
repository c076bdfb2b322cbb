// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import Console
import Glibc

/// A person at a terminal, and an accessory: what is typed goes there, what comes is shown, until Ctrl-].
///
/// Everything that happens comes as an event, one after another, to the one task that runs this.
final class ConsoleSession {
  private enum Event: Sendable {
    /// Nothing: the terminal is gone.
    case typed([UInt8])
    case arrived([UInt8])
    case gone(AccessoryError?)
    case back(ConsoleOpening)
    case resized, continued
    /// No more keys came for a while, or no more bytes; with the count of those that had come.
    case keysPaused(Int)
    case silence(Int)
  }

  private let name: String?
  private let line: LineOptions
  private let log: ConsoleLog?
  private var input: ConsoleInput
  private var eol: LineEnding
  private var hasTimestamps: Bool

  private let events: AsyncStream<Event>
  private let happened: AsyncStream<Event>.Continuation
  private let keyboard: StandardInput
  private var opening: ConsoleOpening?
  private var device: Device
  private var listener: ConsoleListener?
  private var returning: Task<Void, Never>?

  private var screen = ConsoleScreen(columns: TerminalGuard.columns)
  private var editor = LineEditor()
  private var decoder = KeyDecoder()
  private var received: ReceivedView
  private var robot: RobotKeys?
  private var lastKey = ""
  private var isPrefixed = false
  private var (typedCount, arrivedCount) = (0, 0)

  /// The key that ends it, and the one before a key that changes something.
  static let (exitKey, prefixKey): (UInt8, UInt8) = (0x1D, 0x14)
  /// How long an escape byte waits for the rest of its sequence.
  private static let escapeTime = Duration.milliseconds(50)

  init(
    _ opening: ConsoleOpening, name: String?, _ line: LineOptions, input: ConsoleInput, view: ConsoleView,
    eol: LineEnding, hasTimestamps: Bool, log: ConsoleLog?
  ) {
    (self.name, self.line, self.log) = (name, line, log)
    (self.input, self.eol, self.hasTimestamps) = (input, eol, hasTimestamps)
    (self.opening, device) = (opening, opening.device)
    received = ReceivedView(view, silence: opening.session.transport.timing.silence)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  // MARK: - The whole

  /// Runs until Ctrl-], or until the task is cancelled. The terminal is as it was before, then. Throws when the log can't
  /// be written.
  func run() async throws {
    if input == .keys { robot = try await RobotKeys() }
    watchTerminal()
    guard TerminalGuard.begin() else { throw AccessoryError(.ioFailure, "the terminal's settings can't be read") }
    defer {
      listener?.cancel()
      returning?.cancel()
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
    let session = opening?.session
    opening = nil
    await session?.close()
    if let failure { throw failure }
    try log?.remark("ended")
    try Task.checkCancellation()
  }

  /// True when it is to end.
  private func handle(_ event: Event) async throws -> Bool {
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

  private func after(_ time: Duration, _ event: @escaping @Sendable () -> Event) {
    _ = IOThread.shared.schedule(at: IOThread.shared.now + time) { [happened] in happened.yield(event()) }
  }

  /// A stop gives the terminal back, and what follows takes it again.
  private func watchTerminal() {
    _ = try? Signals([SIGWINCH, SIGTSTP, SIGCONT]) { [happened] signal in
      switch signal {
      case SIGWINCH: happened.yield(.resized)
      case SIGTSTP:
        TerminalGuard.restore()
        Output.text("\n")
        kill(getpid(), SIGSTOP)
      default:
        TerminalGuard.makeRaw()
        happened.yield(.continued)
      }
    }
  }

  // MARK: - The accessory

  private func connected(_ opening: ConsoleOpening) throws {
    (self.opening, device) = (opening, opening.device)
    let way = opening.lender.map { ", lent by the service at \($0)" } ?? ""
    note(
      "\(SafeText.escape(device.id)) is connected at \(SafeText.escape(device.path))\(SafeText.escape(way, limit: 500))"
    )
    try log?.remark("connected \(device.id) at \(device.path)\(way)")
    showInput()
    let happened = happened
    listener = ConsoleListener(opening.session) {
      happened.yield(.arrived($0))
    } gone: {
      happened.yield(.gone($0))
    }
  }

  private func gone(_ error: AccessoryError?) async throws {
    guard let opening else { return }
    self.opening = nil
    show(received.finish())
    note("\(SafeText.escape(device.id)) is gone: waiting for it to come back")
    try log?.remark("disconnected \(device.id): \(error?.message ?? "it was closed")")
    showInput()
    await opening.session.close()
    let names = [name, device.id].compactMap { $0 }
    let happened = happened
    returning = ConsoleReturn.wait(names, line, lender: opening.lender) { happened.yield(.back($0)) }
  }

  private func send(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    guard let opening else { return note("not connected: nothing was sent") }
    // Without waiting: what doesn't go must not keep the keyboard from being read.
    switch opening.session.transport.output.offer(bytes) {
    case .accepted: try log?.bytes("sent", bytes)
    case .full: note("the accessory takes nothing at present: nothing was sent")
    case .closed: note("not connected: nothing was sent")
    }
  }

  // MARK: - The keyboard

  private func typed(_ bytes: [UInt8]) async throws -> Bool {
    if bytes.isEmpty { return true }
    typedCount += 1
    var keys: [UInt8] = []
    for byte in bytes {
      if isPrefixed {
        isPrefixed = false
        try await change(byte)
      } else if byte == Self.exitKey {
        try take(keys)
        return true
      } else if byte == Self.prefixKey {
        try take(keys)
        keys = []
        isPrefixed = true
      } else {
        keys.append(byte)
      }
    }
    try take(keys)
    let count = typedCount
    if decoder.isPending { after(Self.escapeTime) { .keysPaused(count) } }
    return false
  }

  private func take(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    if input == .raw { return try send(bytes) }
    var keys: [Key] = []
    decoder.decode(bytes, into: &keys)
    try press(keys)
  }

  private func press(_ keys: [Key]) throws {
    for key in keys {
      if input == .keys {
        guard let (what, bytes) = robot?.bytes(for: key) else { continue }
        lastKey = what
        try send(bytes)
      } else {
        switch editor.handle(key) {
        case .changed, .nothing: break
        case .submitted(let line): try submit(line)
        case .control(let byte):
          sent("^" + String(Unicode.Scalar(byte | 0x40)))
          try send([byte])
        }
      }
    }
    showInput()
  }

  private func submit(_ line: String) throws {
    var bytes = Array(line.utf8)
    if input == .hex {
      guard let parsed = Hex.bytes(line) else {
        return note("that is not hexadecimal, two digits a byte, like 68 65 6c 6c 6f")
      }
      bytes = parsed
    } else {
      bytes += eol.bytes
    }
    sent(SafeText.escape(line, limit: LineEditor.longestLine))
    try send(bytes)
  }

  // MARK: - Changes

  private func change(_ byte: UInt8) async throws {
    switch Unicode.Scalar(byte) {
    case "?", "h": for line in help { note(line) }
    case "d":
      let views: [ConsoleView] = [.text, .frames, .hex]
      let next = views[((views.firstIndex(of: received.view) ?? -1) + 1) % views.count]
      show(received.change(to: next))
      note("what comes is shown as \(next.rawValue)")
    case "t":
      hasTimestamps.toggle()
      note("times are \(hasTimestamps ? "shown" : "not shown")")
    case "e":
      let all = LineEnding.allCases
      eol = all[((all.firstIndex(of: eol) ?? 0) + 1) % all.count]
      note("a line that is sent ends with \(eol.rawValue)")
    case "r": try await change(to: input == .raw ? .line : .raw)
    case "x": try await change(to: input == .hex ? .line : .hex)
    case "k": try await change(to: input == .keys ? .line : .keys)
    case "z": kill(getpid(), SIGTSTP)
    case "q": happened.yield(.typed([Self.exitKey]))
    case Unicode.Scalar(Self.prefixKey): try take(input == .raw ? [byte] : [])
    default: note("Ctrl-T and this key mean nothing: Ctrl-T ? shows those that do")
    }
    showInput()
  }

  private func change(to input: ConsoleInput) async throws {
    if input == .keys, robot == nil {
      do throws(AccessoryError) {
        robot = try await RobotKeys()
      } catch {
        return note(SafeText.escape(error.message, limit: 500))
      }
    }
    self.input = input
    lastKey = ""
    switch input {
    case .line: note("lines are typed, and sent with Enter")
    case .raw: note("each key is sent at once")
    case .hex: note("hexadecimal is typed, and its bytes are sent with Enter")
    case .keys:
      note(
        "arrows drive, space stops, F1 to F4, + and - for the speed; tasks: \(SafeText.escape(robot?.tasks ?? "", limit: 500))"
      )
    }
  }

  private var help: [String] {
    [
      "Ctrl-]    ends", "Ctrl-T d  shows what comes as text, frames or hex", "Ctrl-T t  shows times, or not",
      "Ctrl-T e  what ends a line that is sent: none, lf, cr, crlf",
      "Ctrl-T r  sends each key at once, or lines again", "Ctrl-T x  sends hexadecimal, or lines again",
      "Ctrl-T k  drives a robot: arrows, space, F1 to F4, + and -, digits for tasks; or lines again",
      "Ctrl-T z  stops the console; fg goes on", "Ctrl-T Ctrl-T  sends a Ctrl-T, where each key is sent",
      "In a line: arrows, Home, End, Ctrl-A, -E, -U, -K, -W; up and down are earlier lines; Ctrl-C takes it away",
    ]
  }

  // MARK: - The screen

  private func show(_ body: (inout ConsoleScreen) -> String) { Output.text(body(&screen)) }

  private func show(_ parts: [ReceivedView.Part]) {
    if parts.isEmpty { return }
    let stamp = hasTimestamps ? "[\(WallClock.timeOfDayWithMilliseconds)] " : ""
    let output = screen.together { screen in
      parts.reduce(into: "") { output, part in
        switch part {
        case .text(let text): output += screen.write((screen.isAmidLine ? "" : stamp) + text)
        case .newline: output += screen.newline()
        case .line(let line): output += screen.line(stamp + line)
        case .bytes: break
        }
      }
    }
    Output.text(output)
    for case .bytes(let bytes) in parts { Output.bytes(bytes) }
  }

  private func note(_ text: String) {
    let line = Style.standardOutput.dim("--- \(text)")
    show { $0.line(line) }
  }

  private func sent(_ text: String) {
    let line = Style.standardOutput.green("> \(text)")
    show { $0.line(line) }
  }

  private func showInput() {
    let away = opening == nil ? "(gone) " : ""
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
