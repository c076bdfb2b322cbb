// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// A decoded frame: as text for people, and as fields for programs.
public struct FrameWords: Sendable, Hashable {
  /// The protocol, as people call it: "AF1", "EV3".
  public var `protocol`: String
  /// What sort of frame it is, in one word: "request", "reply", "refusal", "event", "data" …
  public var kind: String
  /// What is asked or answered, as programs know it: "battery", "AT+BATT?"; nil where the frame names nothing.
  public var command: String?
  /// The byte that says so, where the protocol has one.
  public var commandByte: UInt8?
  /// The number by which a reply is matched with its request.
  public var number: UInt16?
  /// Whether it is complete. An incomplete frame has only the head.
  public var outcome = FrameOutcome.whole
  /// The heading, in as few words as possible: "reply BATTERY #7".
  public var title: String
  /// What it says. Texts of the accessory are escaped and cut.
  public var summary: String
  /// The same for programs. No name is there twice; texts of the accessory are as they came.
  public var fields: [FrameField]
  /// Whether it tells that something was refused, or went wrong.
  public var isRefusal = false
  /// What it carries, without the framing; nothing unless the frame is whole.
  public var payload: [UInt8] = []
  /// All of it, with the framing; nothing unless the frame is whole.
  public var bytes: [UInt8] = []

  /// The words of a whole frame.
  public init(
    _ protocol: String, _ kind: String, title: String, command: String? = nil, commandByte: UInt8? = nil,
    number: UInt16? = nil, summary: String = "", fields: [FrameField] = []
  ) {
    (self.protocol, self.kind, self.title, self.command) = (`protocol`, kind, title, command)
    (self.commandByte, self.number, self.summary, self.fields) = (commandByte, number, summary, fields)
  }

  /// The words of a frame of which nothing is known but its protocol.
  public init(_ protocol: String, _ outcome: FrameOutcome, payload: [UInt8]) {
    self.init(`protocol`, "frame", title: "frame", summary: Self.problem(outcome) ?? Self.preview(payload))
    self.outcome = outcome
  }

  /// What is wrong with a frame that isn't whole, in a few words.
  public static func problem(_ outcome: FrameOutcome) -> String? {
    switch outcome {
    case .whole: nil
    case .payloadDamaged: "damaged: the payload's checksum fails"
    case .tooLong: "too long"
    case .otherVersion: "of another protocol version"
    case .malformed: "malformed"
    }
  }

  /// Bytes of which nothing more is known: their number, and the beginning as text.
  public static func preview(_ bytes: some Collection<UInt8>) -> String {
    if bytes.isEmpty { return "" }
    let text = bytes.prefix(16).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
    return "\(bytes.count) bytes |\(String(decoding: text, as: UTF8.self))|"
  }
}

/// One thing that a frame says.
public struct FrameField: Sendable, Hashable {
  /// What it is, with its unit where it has one: "millivolts", "size_bytes".
  public var name: String
  /// What it is now.
  public var value: PlainValue

  /// A field of these parts.
  public init(_ name: String, _ value: PlainValue) { (self.name, self.value) = (name, value) }
}
