// SPDX-License-Identifier: Apache-2.0

/// The command byte of an AF1 frame. Values without a name here are kept as they are.
public struct AF1Command: RawRepresentable, Sendable, Hashable {
  /// The byte on the wire.
  public var rawValue: UInt8

  /// The command with this byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Opens a session; the first request after every open.
  public static let hello = AF1Command(rawValue: 0x00)
  /// Asks for the accessory's names and versions.
  public static let identify = AF1Command(rawValue: 0x01)
  /// Asks for the state; as an event, reports that it changed.
  public static let status = AF1Command(rawValue: 0x02)
  /// Asks for the battery; as an event, reports that it changed.
  public static let battery = AF1Command(rawValue: 0x03)
  /// Announces a file.
  public static let transferBegin = AF1Command(rawValue: 0x10)
  /// Carries one piece of a file.
  public static let transferData = AF1Command(rawValue: 0x11)
  /// Asks for the file to be checked and stored.
  public static let transferEnd = AF1Command(rawValue: 0x12)
  /// Cancels a transfer.
  public static let transferAbort = AF1Command(rawValue: 0x13)
  /// Asks for the same bytes back.
  public static let echo = AF1Command(rawValue: 0x7E)

  /// The commands that the AF1 specification leaves to each accessory.
  public static let accessoryRange: ClosedRange<UInt8> = 0x40...0x7D

  /// Whether the command is idempotent: running it twice does no more than running it once, so it may simply be sent
  /// again.
  ///
  /// By the AF1 specification IDENTIFY, STATUS, BATTERY, ECHO and the TRANSFER commands are idempotent. HELLO is, too,
  /// though the specification does not list it: a repeat clears what the first one has cleared already.
  public var isIdempotent: Bool {
    switch self {
    case .hello, .identify, .status, .battery, .transferBegin, .transferData, .transferEnd, .transferAbort, .echo: true
    default: false
    }
  }

  /// The name in the AF1 specification, or the byte in hexadecimal (`55`) if it has none.
  public var name: String {
    switch self {
    case .hello: "HELLO"
    case .identify: "IDENTIFY"
    case .status: "STATUS"
    case .battery: "BATTERY"
    case .transferBegin: "TRANSFER_BEGIN"
    case .transferData: "TRANSFER_DATA"
    case .transferEnd: "TRANSFER_END"
    case .transferAbort: "TRANSFER_ABORT"
    case .echo: "ECHO"
    default: (rawValue < 0x10 ? "0" : "") + String(rawValue, radix: 16, uppercase: true)
    }
  }
}

extension AF1Command: CustomStringConvertible {
  /// Its `name`.
  public var description: String { name }
}
