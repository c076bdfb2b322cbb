// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A message of the remote control. It has no terminator, unless a line end is asked for.
public enum BlunoMessage: Sendable, Hashable {
  /// Start the task with this number, 0…9999.
  case task(Int)
  /// A key was pressed.
  case key(BlunoKey)
  /// A speed, −999999999…999999999, whose meaning each robot defines for itself. Sent between `<` and `>`.
  case speed(Int)
  /// Any other text.
  case text(String)

  /// The allowed speeds: at most nine digits.
  public static let speeds = -999_999_999...999_999_999

  /// The bytes that are sent.
  ///
  /// - Parameters:
  ///   - keys: Which character each key sends.
  ///   - endingLine: Whether a line feed is put behind the message, for robots that read lines.
  /// - Throws: `BlunoError.outOfRange`, or `empty` for an empty text without a line end.
  public func encoded(keys: BlunoKeyMap = BlunoKeyMap(), endingLine: Bool = false) throws(BlunoError) -> [UInt8] {
    var bytes: [UInt8]
    switch self {
    case .task(let number):
      guard BlunoTask.range.contains(number) else {
        throw .outOfRange(argument: "task", value: number, range: BlunoTask.range)
      }
      bytes = Array(String(number).utf8)
    case .key(let key): bytes = [keys.byte(of: key)]
    case .speed(let speed):
      guard Self.speeds.contains(speed) else {
        throw .outOfRange(argument: "speed", value: speed, range: Self.speeds)
      }
      bytes = Array("<\(speed)>".utf8)
    case .text(let text): bytes = Array(text.utf8)
    }
    if endingLine { bytes.append(UInt8(ascii: "\n")) }
    if bytes.isEmpty { throw .empty }
    return bytes
  }

  /// Whether bytes from a robot are worth showing: they are not empty, and more than a single line feed.
  public static func isShown(_ received: [UInt8]) -> Bool { !received.isEmpty && received != [UInt8(ascii: "\n")] }
}

/// Reads what the remote control sends as a simple robot does, character by character. Each character is a key, a digit
/// that names a task, or part of a speed between `<` and `>`. Any other character is a text of its own.
///
/// So a task number of several digits, or a longer text, becomes several messages: nothing on the line marks its end. A
/// robot that is sent lines reads them with `BlunoMessage(line:keys:)`.
public struct BlunoDecoder: Sendable {
  /// Which character each key sends.
  public var keys: BlunoKeyMap
  /// The bytes of an unfinished speed or character, at most eleven.
  private var kept: [UInt8] = []

  /// A decoder at the start of a message.
  public init(keys: BlunoKeyMap = BlunoKeyMap()) { self.keys = keys }

  /// How many bytes of an unfinished message are kept, at most eleven.
  public var unfinishedByteCount: Int { kept.count }

  /// Takes the next bytes and returns the messages that they complete. The result doesn't depend on how the bytes are
  /// divided into calls.
  public mutating func decode(_ bytes: [UInt8]) -> [BlunoMessage] {
    var messages: [BlunoMessage] = []
    for byte in bytes { take(byte, into: &messages) }
    return messages
  }

  /// Gives up the unfinished message, which becomes a text.
  public mutating func finish() -> [BlunoMessage] {
    if kept.isEmpty { return [] }
    defer { kept = [] }
    return [.text(String(decoding: kept, as: UTF8.self))]
  }

  private mutating func take(_ byte: UInt8, into messages: inout [BlunoMessage]) {
    if kept.first == UInt8(ascii: "<") {
      return takeOfSpeed(byte, into: &messages)
    } else if let first = kept.first {
      if (0x80...0xBF).contains(byte) {
        kept.append(byte)
        if kept.count == Self.length(first) { messages += finish() }
        return
      }
      messages += finish()
    }
    if byte == UInt8(ascii: "<") || Self.length(byte) > 1 {
      kept = [byte]
    } else if let key = keys.key(for: byte) {
      messages.append(.key(key))
    } else if let number = WireText.decimal([byte][...]) {
      messages.append(.task(number))
    } else {
      messages.append(.text(String(decoding: [byte], as: UTF8.self)))
    }
  }

  private mutating func takeOfSpeed(_ byte: UInt8, into messages: inout [BlunoMessage]) {
    if byte == UInt8(ascii: ">"), let speed = WireText.signed(kept.dropFirst()) {
      messages.append(.speed(speed))
      kept = []
      return
    }
    let isSign = byte == UInt8(ascii: "-") && kept.count == 1
    let digits = kept.count - (kept.count > 1 && kept[1] == UInt8(ascii: "-") ? 2 : 1)
    if isSign || ReplyPattern.Element.digit.matches(byte) && digits < 9 {
      kept.append(byte)
    } else {
      messages += finish()
      take(byte, into: &messages)
    }
  }

  /// How many bytes the UTF-8 character has that begins with this byte.
  private static func length(_ first: UInt8) -> Int {
    switch first {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }
}

extension BlunoMessage {
  /// Reads one line, with or without its end: a key's character, the digits of a task, a speed between `<` and `>`, or
  /// any other text.
  public init(line: [UInt8], keys: BlunoKeyMap = BlunoKeyMap()) {
    let line = WireText.withoutLineEnds(line[...])
    if line.count == 1, let key = keys.key(for: line[line.startIndex]) {
      self = .key(key)
    } else if let number = WireText.decimal(line), BlunoTask.range.contains(number) {
      self = .task(number)
    } else if line.first == UInt8(ascii: "<"), line.last == UInt8(ascii: ">"),
      let speed = WireText.signed(line.dropFirst().dropLast())
    {
      self = .speed(speed)
    } else {
      self = .text(String(decoding: line, as: UTF8.self))
    }
  }
}
