// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Numbers of a description lie within ±10¹², so that calculations with them don't overflow (DescriptionReader.widest).
#if arch(arm) || arch(i386)
  #error("Accessory Bridge needs a 64-bit system: numbers of described protocols are Int")
#endif

/// A protocol that a file describes: its frames, its requests, and the meaning of replies.
///
/// It is a value without code in it. `DescribedCodec` finds and makes the frames; `MessageDecoder` and `MessageEncoder`
/// read and write their bodies.
public struct ProtocolDescription: Sendable, Hashable {
  /// The name of the protocol: lower-case letters, digits, `-`, `_`, `.`.
  public var name: String
  /// A summary for people.
  public var summary = ""
  /// What raw bytes can do to the accessory. The default is `undecided`.
  public var rawBytes = RawBytes.undecided
  /// The layouts of frames, in the order in which they are tried where a frame may begin; 1…8.
  public var framings: [Framing] = []
  /// The messages; at most 64. A frame is the first message that fits it.
  public var messages: [Message] = []
  /// The requests; at most 64.
  public var requests: [Request] = []
  /// How frames say which of several accessories on one line they are for or from; nil where there can be only one
  /// accessory.
  public var units: Units?
  /// Values that are calculated from others, in the order of their calculation; at most 64.
  public var derived: [Derivation] = []
  /// What numbers can be, by the name of their value, in its unit. A number outside is unknown.
  package var plausible: [String: PlausibleRange] = [:]
  /// How much values matter to people, by their names, where that isn't what their role, name or quantity implies.
  package var importance: [String: Importance] = [:]
  /// Numbers that the user may give, for `derived`; at most 16.
  public var parameters: [Parameter] = []
  /// The rules of a Modbus protocol, whose framings, messages and requests are made from its registers; nil for other
  /// protocols.
  public var modbus: ModbusRules?
  /// How its accessories look on the air; nil where that isn't said.
  public var bluetooth: Bluetooth?
  /// What its accessories advertise, by which they are read without a connection; nil for those that are connected.
  public var advertisement: Advertisement?
  /// Which requests are made, and when.
  public var plan = Plan()
  /// Frames with their meaning, with which the description is checked; at most 256.
  public var examples: [Example] = []

  /// An empty description with this name.
  public init(name: String) { self.name = name }

  /// Limits for every description, so that a hostile file can cost only little time and memory.
  public enum Limit {
    /// Bytes of a frame.
    public static let frame = 4_096
    /// Repetitions of a field or of a group.
    public static let repetitions = 255
    /// Nested groups.
    public static let nesting = 3
    /// Values in one message.
    public static let values = 1_024
    /// Units on one line.
    public static let units = 256
    /// Bytes in one text value.
    public static let text = 256
    /// Digits of a decimal number in bytes, so that it can't overflow.
    public static let digits = 12
  }

  /// The index of the message with this name; nil if there is none.
  public func message(named name: String) -> Int? { messages.firstIndex { $0.name == name } }
  /// The index of the request with this name; nil if there is none.
  public func request(named name: String) -> Int? { requests.firstIndex { $0.name == name } }
  /// The index of the framing with this name; nil if there is none.
  public func framing(named name: String) -> Int? { framings.firstIndex { $0.name == name } }

  /// The names of all fields of a message, including hidden ones.
  package func needed(_ message: Int) -> [String] { messages[message].fields.map(\.name) }

  /// Whether the description marks a request, or the bytes of an example, as a write.
  package var marksWrites: Bool { requests.contains(where: \.isWrite) || examples.contains(where: \.isWrite) }
}
