// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Why an accessory refused a request: the one payload byte of a refusal. Values without a name here are kept.
public struct AF1RefusalReason: RawRepresentable, Sendable, Hashable {
  /// The byte on the wire.
  public var rawValue: UInt8

  /// The reason with this byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The payload's checksum is wrong.
  public static let payloadDamaged = AF1RefusalReason(rawValue: 2)
  /// The accessory does not have the command.
  public static let unknownCommand = AF1RefusalReason(rawValue: 3)
  /// The payload is longer than the accessory accepts.
  public static let tooLong = AF1RefusalReason(rawValue: 4)
  /// The accessory cannot take the request now.
  public static let busy = AF1RefusalReason(rawValue: 5)
  /// The payload does not fit the command.
  public static let badArgument = AF1RefusalReason(rawValue: 6)
  /// The accessory does not speak the frame's version.
  public static let unsupportedVersion = AF1RefusalReason(rawValue: 7)

  /// Whether the same request may be sent again: at once if the payload was damaged, after a pause if the accessory is
  /// busy.
  public var isRetryable: Bool { self == .payloadDamaged || self == .busy }

  /// The reason with which an accessory refuses a frame of this outcome; `nil` if the frame is whole.
  public init?(_ outcome: FrameOutcome) {
    switch outcome {
    case .whole: return nil
    case .payloadDamaged, .malformed: self = .payloadDamaged
    case .tooLong: self = .tooLong
    case .otherVersion: self = .unsupportedVersion
    }
  }
}

extension AF1RefusalReason: CustomStringConvertible {
  /// The reason in a few English words.
  public var description: String {
    switch self {
    case .payloadDamaged: "the payload arrived damaged"
    case .unknownCommand: "unknown command"
    case .tooLong: "the payload is too long"
    case .busy: "busy"
    case .badArgument: "bad argument"
    case .unsupportedVersion: "unsupported protocol version"
    default: "reason \(rawValue)"
    }
  }
}

extension AF1RefusalReason: AF1Payload {
  /// Reads the one byte of a refusal; bytes behind it are ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there is none.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(1)
    self.init(rawValue: payload.byte(at: 0))
  }

  /// Appends the byte.
  public func encode(into output: inout [UInt8]) { output.append(rawValue) }
}
