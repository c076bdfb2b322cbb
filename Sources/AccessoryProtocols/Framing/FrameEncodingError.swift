// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Why a frame could not be encoded.
public enum FrameEncodingError: Error, Sendable, Hashable {
  /// The payload has `byteCount` bytes; the codec allows at most `limit`.
  case payloadTooLong(byteCount: Int, limit: Int)
  /// The payload has `byteCount` bytes; this framing needs at least `minimum`.
  case payloadTooShort(byteCount: Int, minimum: Int)
  /// The byte at `offset` of the payload would be misread: as a delimiter, or as a part of a frame at another position.
  case unencodableByte(offset: Int)
  /// The checksum depends on the definition of the message with this number, which isn't known.
  case unknownMessage(UInt32)
  /// The user hasn't given the number with this name, which is sent.
  case missing(String)
}

extension RawSpan {
  /// Throws when a payload has fewer than `minimum` bytes, or more than `limit`.
  package func check(_ minimum: Int, to limit: Int) throws(FrameEncodingError) {
    guard byteCount <= limit else { throw .payloadTooLong(byteCount: byteCount, limit: limit) }
    guard byteCount >= minimum else { throw .payloadTooShort(byteCount: byteCount, minimum: minimum) }
  }
}

extension FrameEncodingError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .payloadTooLong(let byteCount, let limit):
      "a payload of \(Amount.bytes(byteCount)) is longer than the limit of \(limit)"
    case .payloadTooShort(let byteCount, let minimum):
      "a payload of \(Amount.bytes(byteCount)) is shorter than the minimum of \(minimum)"
    case .unencodableByte(let offset):
      "byte \(offset) of the payload cannot be sent in this framing"
    case .unknownMessage(let number):
      "message \(number) is unknown, or this version of the framing can't carry it"
    case .missing(let name): "it sends \(name), which isn't known: set it with parameters in a profile"
    }
  }
}
