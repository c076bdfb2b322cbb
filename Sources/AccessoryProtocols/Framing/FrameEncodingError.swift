// SPDX-License-Identifier: Apache-2.0

/// Why a frame could not be encoded.
public enum FrameEncodingError: Error, Sendable, Hashable {
  /// The payload has `byteCount` bytes and the codec allows `limit`.
  case payloadTooLong(byteCount: Int, limit: Int)
  /// The payload has `byteCount` bytes and a frame of this framing has at least `minimum`.
  case payloadTooShort(byteCount: Int, minimum: Int)
  /// The byte at `offset` of the payload would be taken for something else: a delimiter, or a frame out of step.
  case unencodableByte(offset: Int)
  /// The framing needs to know the message of this number to make its checksum, and doesn't.
  case unknownMessage(UInt32)
}

extension FrameEncodingError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .payloadTooLong(let byteCount, let limit):
      "a payload of \(byteCount) bytes is longer than the limit of \(limit)"
    case .payloadTooShort(let byteCount, let minimum):
      "a payload of \(byteCount) bytes is shorter than the minimum of \(minimum)"
    case .unencodableByte(let offset):
      "byte \(offset) of the payload cannot be sent in this framing"
    case .unknownMessage(let number):
      "message \(number) isn't known, or this version of the framing can't carry it"
    }
  }
}
