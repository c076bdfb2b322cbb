// SPDX-License-Identifier: Apache-2.0

/// A protocol that a file describes: how its frames look, what can be asked, what the answers mean.
///
/// It is a value without code in it. `DescribedCodec` finds and makes its frames, `MessageDecoder` and `MessageEncoder`
/// read and write what they carry.
public struct ProtocolDescription: Sendable, Hashable {
  /// What the protocol is called: small letters, digits, `-`, `_`, `.`.
  public var name: String
  /// What it is for, for people.
  public var summary = ""
  /// How its frames look, in the order in which they are tried where a frame may begin; 1…8.
  public var framings: [Framing] = []
  /// What frames mean; at most 64. The first that fits a frame is it.
  public var messages: [Message] = []
  /// What can be asked; at most 64.
  public var requests: [Request] = []
  /// Which of several accessories on one line a frame is meant for, or comes from; nil where there can be but one.
  public var units: Units?
  /// Values that follow from others, in the order in which they are worked out; at most 64.
  public var derived: [Derivation] = []
  /// Numbers that the user may give, for `derived`; at most 16.
  public var parameters: [Parameter] = []
  /// What is said of Modbus where it is that; its framings, messages and requests are made of registers then.
  public var modbus: ModbusRules?
  /// What is asked when.
  public var plan = Plan()
  /// Frames with what they mean, by which the description is checked; at most 256.
  public var examples: [Example] = []

  /// A description with this name and nothing in it.
  public init(name: String) { self.name = name }

  /// The limits that no description goes beyond, so that a hostile file costs little.
  public enum Limit {
    /// Bytes of a frame.
    public static let frame = 4_096
    /// Repetitions of a field or of a group.
    public static let repetitions = 255
    /// Groups within each other.
    public static let nesting = 3
    /// Values that one message can give.
    public static let values = 1_024
    /// Units of one line.
    public static let units = 256
    /// Bytes of one text value.
    public static let text = 256
  }

  /// The place of the message with this name.
  public func message(named name: String) -> Int? { messages.firstIndex { $0.name == name } }
  /// The place of the request with this name.
  public func request(named name: String) -> Int? { requests.firstIndex { $0.name == name } }
  /// The place of the framing with this name.
  public func framing(named name: String) -> Int? { framings.firstIndex { $0.name == name } }
}
