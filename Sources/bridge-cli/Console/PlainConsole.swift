// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink
import CommandOutput
import Console

/// A console without a person at a terminal: lines come from a pipe and go to the accessory, what comes goes to standard
/// output. Ends when the input has ended and the accessory has been silent for a while, or when it is gone, unless it is to
/// be waited for.
final class PlainConsole {
  private enum Event: Sendable {
    case typed([UInt8])
    case arrived([UInt8])
    case gone(AccessoryError?)
    case back(ConsoleOpening)
    case silence(Int)
    case lingered(Int)
    /// The pause behind a line is over.
    case lineDue
  }

  private let name: String?
  private let line: LineOptions
  private let write: Bool
  private let reconnects: Bool
  /// The accessory; the last one while it is gone.
  private var opening: ConsoleOpening
  private var isGone = false
  private let input: ConsoleInput
  private let eol: LineEnding
  private let hasTimestamps: Bool
  private let json: Bool
  private let linger: Duration
  /// The pause between a line that was sent and the next.
  private let lineDelay: Duration
  private var isPausing = false
  private var isReading = false
  private let log: ConsoleLog?
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

  /// Bytes of a line at most; what is longer is sent in parts.
  private static let longestLine = 1 << 20

  init(
    _ opening: ConsoleOpening, name: String?, _ line: LineOptions, write: Bool, reconnects: Bool, input: ConsoleInput,
    view: ConsoleView, eol: LineEnding, hasTimestamps: Bool, json: Bool, linger: Duration,
    lineDelay: Duration, log: ConsoleLog?
  ) {
    (self.name, self.line, self.write, self.reconnects) = (name, line, write, reconnects)
    (self.opening, self.input, self.eol, self.hasTimestamps) = (opening, input, eol, hasTimestamps)
    (self.json, self.linger, self.lineDelay, self.log) = (json, linger, lineDelay, log)
    received = ReceivedView(view, silence: opening.silence, driver: opening.driver)
    let (events, happened) = AsyncStream<Event>.makeStream()
    (self.events, self.happened) = (events, happened)
    keyboard = StandardInput { happened.yield(.typed($0)) }
  }

  func run() async throws {
    try connected(opening)
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
          try log?.bytes("received", bytes)
          arrivedCount += 1
          if json { tell("received", bytes) } else { show(received.take(bytes)) }
          listener?.goOn()
        case .silence(let count): if count == arrivedCount { show(received.silent()) }
        case .lingered(let count): if count == arrivedCount, pending.isEmpty, !isPausing { break loop }
        case .gone(let error): try await gone(error)
        case .back(let opening):
          try connected(opening)
          try await sendPending()
          readOn()
        }
        let count = arrivedCount
        if let patience = received.patience { Self.after(patience, happened, .silence(count)) }
        if hasEnded { Self.after(linger, happened, .lingered(count)) }
      }
    } catch { failure = error }
    listener?.cancel()
    returning?.cancel()
    if !json { show(received.finish()) }
    if isAmidLine { Output.text("\n") }
    await opening.close()
    if let failure { throw failure }
    try Task.checkCancellation()
  }

  // MARK: - The accessory

  private func connected(_ opening: ConsoleOpening) throws {
    (self.opening, isGone) = (opening, false)
    try log?.remark("connected \(opening.device.id) at \(opening.device.address)")
    tell("connected")
    let happened = happened
    listener = ConsoleListener(opening) {
      happened.yield(.arrived($0))
    } gone: {
      happened.yield(.gone($0))
    }
  }

  private func gone(_ error: AccessoryError?) async throws {
    try log?.remark("disconnected \(opening.device.id): \(error?.message ?? "it was closed")")
    guard reconnects else { throw error ?? AccessoryError.disconnected(opening.device.address.description) }
    isGone = true
    tell("disconnected")
    if !json { Output.note("\(SafeText.escape(opening.device.id)) is gone: waiting for it to come back") }
    await opening.close()
    let happened = happened
    returning = ConsoleReturn.wait(
      [name, opening.device.id].compactMap { $0 }, line, write: write, lender: opening.lender
    ) {
      happened.yield(.back($0))
    }
  }

  private static func after(_ time: Duration, _ happened: AsyncStream<Event>.Continuation, _ event: Event) {
    _ = IOThread.shared.schedule(at: IOThread.shared.now + time) { happened.yield(event) }
  }

  // MARK: - What is sent

  /// Takes more from the pipe. What is for an accessory that is gone stays there, and so does what is for later.
  private func readOn() {
    guard !hasEnded, !isGone, !isPausing, !isReading else { return }
    isReading = true
    keyboard.resume()
  }

  /// Sends what has come from the pipe, up to the next pause.
  private func sendPending() async throws {
    do {
      while !isGone, !isPausing, let count = nextCount {
        try await send(Array(pending.prefix(count)), isLine: input != .raw)
        pending.removeFirst(count)
      }
    } catch let error as AccessoryError where error.kind == .disconnected && reconnects {
      // Told by the listener as well. How much of this line got there isn't known.
      if !isGone {
        Output.note("\(SafeText.escape(opening.device.id)) went while it was sent something: that may be lost")
      }
      isGone = true
    }
  }

  /// The bytes that are sent next, a line with its end; nil where there is nothing to be sent yet.
  private var nextCount: Int? {
    guard !pending.isEmpty else { return nil }
    if input == .raw { return pending.count }
    if let end = pending.firstIndex(of: UInt8(ascii: "\n")) { return end + 1 }
    return hasEnded || pending.count >= Self.longestLine ? pending.count : nil
  }

  private func send(_ bytes: [UInt8], isLine: Bool) async throws {
    guard isLine else { return try await send(bytes) }
    endLine()
    let isWhole = bytes.last == UInt8(ascii: "\n")
    // What is longer than a line may be goes in parts, as it is.
    if isWhole || hasEnded { try await send(line: isWhole ? bytes.dropLast() : bytes) } else { try await send(bytes) }
    guard lineDelay > .zero else { return }
    isPausing = true
    Self.after(lineDelay, happened, .lineDue)
  }

  /// The reply to the line before, where it ended no line, stands in one of its own.
  private func endLine() {
    guard !json else { return }
    show(received.silent())
    guard isAmidLine else { return }
    Output.text("\n")
    isAmidLine = false
  }

  private func send(line: [UInt8]) async throws {
    guard input == .hex else { return try await send(line + eol.bytes) }
    let text = String(decoding: line, as: UTF8.self)
    guard let bytes = Hex.bytes(text.filter { !$0.isWhitespace }) else {
      throw UsageError("\(text) is not hexadecimal, two digits a byte, like 68656c6c6f")
    }
    try await send(bytes)
  }

  private func send(_ bytes: [UInt8]) async throws {
    guard !bytes.isEmpty else { return }
    try await opening.write(bytes)
    try log?.bytes("sent", bytes)
    if json { tell("sent", bytes) } else { show(received.sent(bytes)) }
  }

  // MARK: - What is shown

  private func tell(_ event: String, _ bytes: [UInt8]? = nil) {
    guard json else { return }
    Output.json(
      ConsoleDocument(
        event: event, time: WallClock.seconds, device: DeviceDocument(opening.device),
        hex: OrNull(bytes.map { Hexadecimal.string($0) }),
        text: OrNull(bytes.map { String(decoding: $0, as: UTF8.self) })))
  }

  private func show(_ parts: [ReceivedView.Part]) {
    let stamp = hasTimestamps ? "[\(WallClock.timeOfDayWithMilliseconds)] " : ""
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

/// Something that happened at a console.
struct ConsoleDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let time: Double
  let device: DeviceDocument
  let hex, text: OrNull<String>
}
