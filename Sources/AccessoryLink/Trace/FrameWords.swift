// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// A description of a decoded frame: as text for people, and as fields for programs.
public struct FrameWords: Sendable, Hashable {
  /// The name of the protocol: "Modbus", "SLIP".
  public var `protocol`: String
  /// The kind of frame, in one word: "request", "reply", "refusal", "event", "data" …
  public var kind: String
  /// The command that is requested or answered, as programs know it: "battery", "AT+BATT?"; nil when the frame names
  /// none.
  public var command: String?
  /// The byte of the command, if the protocol has one.
  public var commandByte: UInt8?
  /// The number that matches a reply to its request.
  public var number: UInt16?
  /// Whether the frame is complete and valid. A frame that isn't whole has only its header described.
  public var outcome = FrameOutcome.whole
  /// The heading, in as few words as possible: "reply BATTERY #7".
  public var title: String
  /// The contents as text. Texts from the accessory are escaped and cut.
  public var summary: String
  /// The contents for programs. Names are unique; texts from the accessory are unchanged.
  public var fields: [FrameField]
  /// Whether the frame reports a refusal or a failure.
  public var isRefusal = false
  /// The payload, without the framing; empty unless the frame is whole.
  public var payload: [UInt8] = []
  /// All bytes of the frame, with the framing; empty unless the frame is whole, or whole but for its check.
  public var bytes: [UInt8] = []
  /// What is wrong with the frame's check; nil when it is right, and when the codec doesn't tell.
  public var mismatch: CheckMismatch?

  /// The description of a whole frame.
  public init(
    _ protocol: String, _ kind: String, title: String, command: String? = nil, commandByte: UInt8? = nil,
    number: UInt16? = nil, summary: String = "", fields: [FrameField] = []
  ) {
    (self.protocol, self.kind, self.title, self.command) = (`protocol`, kind, title, command)
    (self.commandByte, self.number, self.summary, self.fields) = (commandByte, number, summary, fields)
  }

  /// The description of a frame about which only its protocol is known.
  public init(_ protocol: String, _ outcome: FrameOutcome, payload: [UInt8]) {
    self.init(`protocol`, "frame", title: "frame", summary: Self.problem(outcome) ?? Self.preview(payload))
    self.outcome = outcome
  }

  /// The defect of a frame that isn't whole, in a few words.
  public static func problem(_ outcome: FrameOutcome) -> String? {
    switch outcome {
    case .whole: nil
    case .payloadDamaged: "damaged: the payload's checksum fails"
    case .tooLong: "too long"
    case .otherVersion: "of another protocol version"
    case .malformed: "malformed"
    }
  }

  /// Describes bytes about which nothing more is known: their number, and the beginning as text.
  public static func preview(_ bytes: some Collection<UInt8>) -> String {
    if bytes.isEmpty { return "" }
    let text = bytes.prefix(16).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
    return "\(Amount.bytes(bytes.count)) |\(String(decoding: text, as: UTF8.self))|"
  }
}

/// A field of a frame.
public struct FrameField: Sendable, Hashable {
  /// The name, with the unit if there is one: "millivolts", "size_bytes".
  public var name: String
  /// The value.
  public var value: PlainValue

  /// A field with these parts.
  public init(_ name: String, _ value: PlainValue) { (self.name, self.value) = (name, value) }
}
