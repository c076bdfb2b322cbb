// SPDX-License-Identifier: Apache-2.0

/// Why a frame could not be encoded.
public enum FrameEncodingError: Error, Sendable, Hashable {
  /// The payload has `byteCount` bytes and the codec allows `limit`.
  case payloadTooLong(byteCount: Int, limit: Int)
}

extension FrameEncodingError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .payloadTooLong(let byteCount, let limit):
      "a payload of \(byteCount) bytes is longer than the limit of \(limit)"
    }
  }
}
