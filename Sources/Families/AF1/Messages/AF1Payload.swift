// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A payload of a command, which can be read from bytes and written as bytes.
///
/// The same rules hold for all fixed layouts. A payload that is too short is an error. Bytes behind a reply's known
/// fields are ignored, since later accessories may add fields. Bytes behind a request's arguments are an error, since
/// an accessory can't honour an argument that it doesn't know.
public protocol AF1Payload: Sendable, Hashable {
  /// Reads a payload.
  ///
  /// - Throws: `AF1PayloadError` if the payload does not have this layout.
  init(decoding payload: RawSpan) throws(AF1PayloadError)

  /// Appends the payload to `output`.
  ///
  /// - Throws: `AF1PayloadError` if the value can't be encoded; `output` is unchanged then.
  func encode(into output: inout [UInt8]) throws(AF1PayloadError)
}

extension AF1Payload {
  /// Reads a payload from an array.
  ///
  /// - Throws: `AF1PayloadError` if the payload does not have this layout.
  public init(decoding payload: [UInt8]) throws(AF1PayloadError) {
    try self.init(decoding: payload.span.bytes)
  }

  /// The encoded payload.
  ///
  /// - Throws: `AF1PayloadError` if the value can't be encoded.
  public func encoded() throws(AF1PayloadError) -> [UInt8] {
    var output: [UInt8] = []
    try encode(into: &output)
    return output
  }
}

/// Why a payload could not be read or written.
public enum AF1PayloadError: Error, Sendable, Hashable {
  /// The payload has `byteCount` bytes, and at least `minimum` are needed.
  case tooShort(byteCount: Int, minimum: Int)
  /// A request's payload has `byteCount` bytes, and at most `maximum` have a meaning.
  case tooLong(byteCount: Int, maximum: Int)
  /// Text has `byteCount` bytes of UTF-8, which exceeds `maximum`.
  case textTooLong(byteCount: Int, maximum: Int)
  /// Text number `index`, counted from 0, is not ended by a zero byte.
  case textNotEnded(index: Int)
  /// Text contains a zero byte, which would end it.
  case textContainsZero
  /// A byte has a value without a meaning.
  case unknownValue(UInt8)
}

extension AF1PayloadError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .tooShort(let byteCount, let minimum):
      "the payload has \(Amount.bytes(byteCount)) and needs at least \(minimum)"
    case .tooLong(let byteCount, let maximum):
      "the payload has \(Amount.bytes(byteCount)) and may have at most \(maximum)"
    case .textTooLong(let byteCount, let maximum):
      "a text has \(Amount.bytes(byteCount)) and may have at most \(maximum)"
    case .textNotEnded(let index): "text \(index + 1) doesn't end with a zero byte"
    case .textContainsZero: "a text contains a zero byte"
    case .unknownValue(let byte): "the value \(byte) has no meaning here"
    }
  }
}

extension RawSpan {
  /// Checks that there are at least `minimum` bytes.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer.
  func require(_ minimum: Int) throws(AF1PayloadError) {
    guard byteCount >= minimum else { throw .tooShort(byteCount: byteCount, minimum: minimum) }
  }

  /// Checks that there are exactly `count` bytes.
  ///
  /// - Throws: `AF1PayloadError.tooShort` or `AF1PayloadError.tooLong` if there are not.
  func requireExactly(_ count: Int) throws(AF1PayloadError) {
    try require(count)
    guard byteCount == count else { throw .tooLong(byteCount: byteCount, maximum: count) }
  }
}
