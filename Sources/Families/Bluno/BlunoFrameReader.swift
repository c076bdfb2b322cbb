// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Decodes the traffic between a host and a Bluno, for a trace: messages to the robot, which end with a line feed or
/// with silence; AT commands to the radio; and lines from the board.
struct BlunoFrameReader: FrameReader {
  private static let name = "Bluno"

  private var lines = FrameSide(.fromDevice, LineExchange.lines)
  /// Bytes to the robot whose message hasn't ended yet.
  private var message: [UInt8] = []
  /// The last AT command, until its reply.
  private var asked: BlunoCommand?
  /// Whether the radio seems to be in AT mode, judging by the traffic.
  private var isInATMode = false

  var silenceEndsFrames: Bool { true }
  var isText: Bool { true }

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    direction == .toDevice ? !message.isEmpty : lines.codec.hasUnfinishedFrame
  }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    if direction == .fromDevice {
      return endMessage() + read { side, words in side.decode(bytes.span.bytes, words) }
    }
    var reads: [FrameRead] = []
    for byte in bytes {
      message.append(byte)
      if byte == UInt8(ascii: "\n") || message.count == BlunoLimits.reply { reads += endMessage() }
    }
    return reads
  }

  mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    direction == .toDevice ? endMessage() : read { side, words in side.idle(words) }
  }

  mutating func expire(_ direction: ByteDirection) -> [FrameRead] { idle(direction) }

  // MARK: - To the board

  private mutating func endMessage() -> [FrameRead] {
    if message.isEmpty { return [] }
    let bytes = message
    message = []
    if let command = try? BlunoCommand(decoding: bytes) { return [sent(self.command(command, bytes), bytes)] }
    let whole = BlunoMessage(line: bytes)
    if case .text = whole {
      // The bytes may be several keys that were pressed in quick succession.
      let parts = Self.parts(of: bytes)
      if !parts.isEmpty { return parts.map { sent(Self.words(of: $0.message), $0.bytes) } }
    }
    return [sent(Self.words(of: whole), bytes)]
  }

  /// Splits bytes into messages as a robot does that reads character by character. Returns nothing if one of the
  /// messages would be a text.
  private static func parts(of bytes: [UInt8]) -> [(message: BlunoMessage, bytes: [UInt8])] {
    var decoder = BlunoDecoder()
    var parts: [(message: BlunoMessage, bytes: [UInt8])] = []
    var part: [UInt8] = []
    for byte in bytes {
      part.append(byte)
      let found = decoder.decode([byte])
      if found.isEmpty { continue }
      guard found.count == 1, let message = found.first else { return [] }
      if case .text = message { return [] }
      parts.append((message, part))
      part = []
    }
    return part.isEmpty ? parts : []
  }

  private func sent(_ words: FrameWords, _ bytes: [UInt8]) -> FrameRead {
    var words = words
    (words.payload, words.bytes) = (bytes, bytes)
    return FrameRead(.toDevice, .frame(words))
  }

  /// Describes a message to the robot.
  private static func words(of message: BlunoMessage) -> FrameWords {
    var words = FrameWords(name, "request", title: "request")
    switch message {
    case .task(let number):
      let task = BlunoTask.defaults.first { $0.number == number }
      (words.title, words.command) = ("task \(number)", "task")
      words.summary = task.map { "\($0.name), if it has the usual tasks" } ?? ""
      words.fields = [.init("task", number)]
    case .key(let key):
      (words.title, words.command) = ("key \(key.rawValue)", "key")
      words.fields = [.init("key", key.rawValue)]
    case .speed(let speed):
      (words.title, words.command) = ("speed \(speed)", "speed")
      words.fields = [.init("speed", speed)]
    case .text(let text):
      (words.title, words.command, words.summary) = ("text", "text", FrameWords.quoted(text))
      words.fields = [.init("text", text)]
    }
    return words
  }

  /// Describes an AT command to the radio.
  private mutating func command(_ command: BlunoCommand, _ bytes: [UInt8]) -> FrameWords {
    let wire = String(decoding: bytes.withoutLineEnd, as: UTF8.self)
    var words = FrameWords(
      Self.name, "request", title: "request \(SafeText.escape(wire, limit: 90))", command: wire)
    asked = command
    switch command {
    case .toggle:
      words.summary = isInATMode ? "leave AT mode" : "enter AT mode"
      isInATMode.toggle()
    case .attention: words.summary = "is it in AT mode?"
    case .ask(let parameter):
      words.summary = "\(FrameWords.spaced(parameter))?"
      words.fields = [.init("parameter", parameter.rawValue)]
    case .set(let parameter, let value):
      words.summary = "set \(FrameWords.spaced(parameter)) to \(FrameWords.quoted(value))"
      words.fields = [.init("parameter", parameter.rawValue), .init("value", value)]
    case .restart: words.summary = "restart the radio"
    case .exit:
      words.summary = "leave AT mode"
      isInATMode = false
    case .other: break
    }
    if case .toggle = command {} else if command != .exit { isInATMode = command != .restart }
    return words
  }

  // MARK: - From the board

  private mutating func read(
    _ body: (inout FrameSide<ReplyCodec>, FrameSide<ReplyCodec>.Words) -> [FrameRead]
  ) -> [FrameRead] {
    var asked = asked
    var isInATMode = isInATMode
    let reads = body(&lines) { _, outcome, payload in
      guard outcome == .whole else { return FrameWords.line(Self.name, outcome, payload) }
      let reply = BlunoReply(decoding: payload)
      defer { asked = nil }
      if reply == .enteredATMode {
        isInATMode = true
        return Self.reply("in AT mode", payload, [])
      }
      switch (asked, reply) {
      case (let command?, .ok) where command != .toggle:
        return Self.reply("done", payload, [])
      case (.ask(let parameter)?, .value(let text)):
        var fields: [FrameField] = [.init("parameter", parameter.rawValue), .init("value", text)]
        if let number = reply.number(of: parameter) { fields.append(.init("number", number)) }
        return Self.reply("\(FrameWords.spaced(parameter)) \(FrameWords.quoted(text))", payload, fields)
      default: return FrameWords.line(Self.name, outcome, payload)
      }
    }
    (self.asked, self.isInATMode) = (asked, isInATMode)
    return reads
  }

  private static func reply(_ summary: String, _ payload: [UInt8], _ fields: [FrameField]) -> FrameWords {
    let wire = String(decoding: payload.withoutLineEnd, as: UTF8.self)
    return FrameWords(
      name, "reply", title: "reply \(SafeText.escape(wire, limit: 60))", command: wire, summary: summary, fields: fields
    )
  }
}
