// SPDX-License-Identifier: Apache-2.0

/// The type of a message. Values without a name here are kept.
public struct EV3MessageType: RawRepresentable, Sendable, Hashable {
  /// The byte on the wire.
  public var rawValue: UInt8

  /// The type with this byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Code to run; the brick replies.
  public static let directCommand = EV3MessageType(rawValue: 0x00)
  /// Code to run; the brick doesn't reply.
  public static let directCommandNoReply = EV3MessageType(rawValue: 0x80)
  /// A command about files and the system; the brick replies.
  public static let systemCommand = EV3MessageType(rawValue: 0x01)
  /// A command about files and the system; the brick doesn't reply.
  public static let systemCommandNoReply = EV3MessageType(rawValue: 0x81)
  /// The code was run.
  public static let directReply = EV3MessageType(rawValue: 0x02)
  /// The code was not run, or failed.
  public static let directError = EV3MessageType(rawValue: 0x04)
  /// The system command was carried out.
  public static let systemReply = EV3MessageType(rawValue: 0x03)
  /// The system command was refused.
  public static let systemError = EV3MessageType(rawValue: 0x05)

  /// Whether it is a reply.
  public var isReply: Bool { (0x02...0x05).contains(rawValue) }
  /// Whether it is a direct command or the reply to one.
  public var isDirect: Bool {
    switch rawValue {
    case 0x00, 0x80, 0x02, 0x04: true
    default: false
    }
  }
  /// Whether it is a command to which the brick replies.
  public var wantsReply: Bool { self == .directCommand || self == .systemCommand }
}

/// A message of the EV3 without its length field: a command or a reply.
public struct EV3Message: Sendable, Hashable {
  /// The number of the message. The brick copies it into the reply and doesn't check it.
  public var number: UInt16
  /// The type of the message.
  public var type: EV3MessageType
  /// The bytes behind the type.
  public var body: [UInt8]

  /// A message of these parts.
  public init(number: UInt16, type: EV3MessageType, body: [UInt8]) {
    self.number = number
    self.type = type
    self.body = body
  }

  /// Reads the payload of a frame.
  ///
  /// - Throws: `EV3MessageError.tooShort` if there are fewer than three bytes.
  public init(decoding payload: RawSpan) throws(EV3MessageError) {
    guard let head = Self.head(of: payload) else { throw .tooShort(byteCount: payload.byteCount, minimum: 3) }
    (number, type) = head
    body = Array(copying: payload.extracting(3..<payload.byteCount))
  }

  /// Reads the number and the type alone; nil when the payload of a frame is too short for them.
  package static func head(of payload: RawSpan) -> (number: UInt16, type: EV3MessageType)? {
    guard payload.byteCount >= 3 else { return nil }
    return (payload.load(littleEndianAt: 0, as: UInt16.self), EV3MessageType(rawValue: payload.byte(at: 2)))
  }

  /// Reads the payload of a frame from an array.
  ///
  /// - Throws: `EV3MessageError.tooShort` if there are fewer than three bytes.
  public init(decoding payload: [UInt8]) throws(EV3MessageError) { try self.init(decoding: payload.span.bytes) }

  /// Appends the whole message with its length field.
  ///
  /// - Throws: `messageTooLong` if the message is longer than the firmware allows.
  public func encode(into output: inout [UInt8]) throws(EV3MessageError) {
    let count = 3 + body.count
    let limit = type.isReply ? 3 + EV3Limits.globals : EV3Limits.messageBehindLength
    guard count <= limit else { throw .messageTooLong(byteCount: count, limit: limit) }
    output.append(littleEndian: UInt16(count))
    output.append(littleEndian: number)
    output.append(type.rawValue)
    output += body
  }

  /// The whole message with its length field.
  ///
  /// - Throws: `messageTooLong` if the message is longer than the firmware allows.
  public func encoded() throws(EV3MessageError) -> [UInt8] {
    var output: [UInt8] = []
    try encode(into: &output)
    return output
  }
}
