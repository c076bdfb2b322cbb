// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import CommandOutput
import Console

/// A console without a person at a terminal: lines from a pipe go to the accessory, received bytes go to standard
/// output. It ends when the input has ended and the accessory was silent for a while, or when the accessory is gone and
/// isn't waited for.
final class PlainConsole {
  private enum Event: Sendable {
    case typed([UInt8])
    case arrived([UInt8])
    case gone(AccessoryError?)
    case back(ConsoleConnection)
    case silence(Int)
    case lingered(Int)
    /// The pause after a line is over.
    case lineDue
  }

  private let settings: ConsoleSettings
  private let reconnects: Bool
  /// The accessory; while it is gone, the last one.
  private var connection: ConsoleConnection
  private var isGone = false
  private let json: Bool
  private let linger: Duration
  /// The pause between two lines that are sent.
  private let lineDelay: Duration
  private var isPausing = false
  private var isReading = false
  private var received: ReceivedView
  private var pending: [UInt8] = []
  private var arrivedCount = 0
  private var isAmidLine = false
  private var hasEnded = false
  private let events: AsyncStream<Event>
  private let happened: AsyncStream<Event>.Continuation
  private let keyboard: StandardInput
  private var listener: ConsoleListener?
  private var returning: Task<Void, Never>?
  private let pauses = ReturnPauses()

  /// The greatest length of a line in bytes. A longer one is sent in parts.
  private static let longestLine = 1 << 20

  init(
    _ connection: ConsoleConnection, _ settings: ConsoleSettings, reconnects: Bool, json: Bool, linger: Duration,
    lineDelay: Duration
  ) {
    (self.connection, self.settings, self.reconnects) = (connection, settings, reconnects)
    (self.json, self.linger, self.lineDelay) = (json, linger, lineDelay)
    received = ReceivedView(
      settings.view, colours: settings.colours, silence: connection.silence, driver: connection.driver)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  func run() async throws {
    try connected(connection)
    readOn()
    var failure: (any Error)?
    do {
      loop: for await event in events {
        switch event {
        case .typed(let bytes):
          isReading = false
          if bytes.isEmpty { hasEnded = true }
          pending += bytes
          try await sendPending()
          readOn()
        case .lineDue:
          isPausing = false
          try await sendPending()
          readOn()
        case .arrived(let bytes):
          try settings.log?.bytes("received", bytes)
          arrivedCount += 1
          if json { tell("received", bytes) } else { show(received.take(bytes)) }
          listener?.takeNext()
        // A timer's event restarts neither timer; the other events restart both.
        case .silence(let count):
          if count == arrivedCount { show(received.silent()) }
          continue loop
        case .lingered(let count):
          if count == arrivedCount, pending.isEmpty, !isPausing { break loop }
          continue loop
        case .gone(let error): try await gone(error)
        case .back(let connection):
          try connected(connection)
          try await sendPending()
          readOn()
        }
        let count = arrivedCount
        if let silenceTimeout = received.silenceTimeout { Self.after(silenceTimeout, happened, .silence(count)) }
        if hasEnded { Self.after(linger, happened, .lingered(count)) }
      }
    } catch { failure = error }
    listener?.cancel()
    returning?.cancel()
    if !json { show(received.finish()) }
    if isAmidLine { Output.text("\n") }
    await connection.close()
    if let failure { throw failure }
    try Task.checkCancellation()
  }

  // MARK: - The accessory

  private func connected(_ connection: ConsoleConnection) throws {
    (self.connection, isGone) = (connection, false)
    pauses.opened()
    try settings.log?.remark("connected \(connection.device.id) at \(connection.device.address)")
    tell("connected")
    let happened = happened
    listener = ConsoleListener(connection) {
      happened.yield(.arrived($0))
    } gone: {
      happened.yield(.gone($0))
    }
  }

  private func gone(_ error: AccessoryError?) async throws {
    try settings.log?.remark("disconnected \(connection.device.id): \(error?.message ?? "it was closed")")
    guard reconnects else { throw error ?? AccessoryError.disconnected(connection.device.address.description) }
    isGone = true
    tell("disconnected")
    let again = await Door.again(connection.device, asLine: true)
    if !json { Output.note("\(SafeText.escape(connection.device.id)) is gone: \(AccessoryReturn.waiting(again))") }
    await connection.close()
    let happened = happened
    returning = ConsoleReturn.wait(
      again, settings.name, settings.line, write: settings.write,
      servicePath: connection.servicePath, pauses: pauses
    ) {
      happened.yield(.back($0))
    }
  }

  private static func after(_ time: Duration, _ happened: AsyncStream<Event>.Continuation, _ event: Event) {
    _ = IOThread.shared.schedule(at: IOThread.shared.now + time) { happened.yield(event) }
  }

  // MARK: - Sending

  /// Reads more from the pipe. While the accessory is gone, or during the pause between lines, the data stays in the
  /// pipe.
  private func readOn() {
    guard !hasEnded, !isGone, !isPausing, !isReading else { return }
    isReading = true
    keyboard.resume()
  }

  /// Sends the bytes read from the pipe, up to the next pause.
  private func sendPending() async throws {
    do {
      while !isGone, !isPausing, let count = nextCount {
        // Removed before sending: a line that an unplug cuts off is not sent a second time.
        let bytes = Array(pending.prefix(count))
        pending.removeFirst(count)
        try await send(bytes, isLine: settings.input != .raw)
      }
    } catch let error as AccessoryError where error.kind == .disconnected && reconnects {
      // The listener also reports the unplug. How much of this line was sent isn't known.
      if !isGone {
        Output.note("\(SafeText.escape(connection.device.id)) was unplugged while bytes were sent: they may be lost")
      }
      isGone = true
    }
  }

  /// How many of the pending bytes are sent next, a line with its end; nil while no complete line is there.
  private var nextCount: Int? {
    guard !pending.isEmpty else { return nil }
    if settings.input == .raw { return pending.count }
    if let end = pending.firstIndex(of: UInt8(ascii: "\n")) { return end + 1 }
    return hasEnded || pending.count >= Self.longestLine ? pending.count : nil
  }

  private func send(_ bytes: [UInt8], isLine: Bool) async throws {
    guard isLine else { return try await send(bytes) }
    endLine()
    let isWhole = bytes.last == UInt8(ascii: "\n")
    // A part of an overlong line is sent without a line ending.
    if isWhole || hasEnded { try await send(line: isWhole ? bytes.dropLast() : bytes) } else { try await send(bytes) }
    guard lineDelay > .zero else { return }
    isPausing = true
    Self.after(lineDelay, happened, .lineDue)
  }

  /// Starts a new line of output if the reply to the last line didn't end with a newline.
  private func endLine() {
    guard !json else { return }
    show(received.silent())
    guard isAmidLine else { return }
    Output.text("\n")
    isAmidLine = false
  }

  private func send(line: [UInt8]) async throws {
    guard settings.input == .hex else { return try await send(line + settings.eol.bytes) }
    let text = String(decoding: line, as: UTF8.self)
    guard let bytes = Hex.bytes(text.filter { !$0.isWhitespace }) else {
      throw UsageError("\(text) is not hexadecimal (two digits a byte, like 68656c6c6f)")
    }
    try await send(bytes)
  }

  private func send(_ bytes: [UInt8]) async throws {
    guard !bytes.isEmpty else { return }
    try await connection.write(bytes)
    try settings.log?.bytes("sent", bytes)
    if json { tell("sent", bytes) } else { show(received.sent(bytes)) }
  }

  // MARK: - Output

  private func tell(_ event: String, _ bytes: [UInt8]? = nil) {
    guard json else { return }
    Output.json(
      ConsoleDocument(
        event: event, time: WallClock.seconds, device: DeviceDocument(connection.device),
        hex: bytes.map { Hexadecimal.string($0) },
        text: bytes.map { String(decoding: $0, as: UTF8.self) }))
  }

  private func show(_ parts: [ReceivedView.Part]) {
    let stamp = settings.hasTimestamps ? "[\(WallClock.timeOfDayWithMilliseconds)] " : ""
    for part in parts {
      switch part {
      case .text(let text):
        Output.text((isAmidLine ? "" : stamp) + text)
        isAmidLine = true
      case .newline:
        Output.text("\n")
        isAmidLine = false
      case .line(let line): Output.line(stamp + line)
      case .bytes(let bytes): Output.bytes(bytes)
      }
    }
  }
}

/// An event of a console, in JSON.
struct ConsoleDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.consoleEvent
  let event: String
  let time: Double
  let device: DeviceDocument
  let hex, text: String?
}
