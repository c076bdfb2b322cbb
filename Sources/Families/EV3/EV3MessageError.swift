// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Why a message of the EV3 could not be written or read.
public enum EV3MessageError: Error, Sendable, Hashable {
  /// There are `byteCount` bytes, and at least `minimum` are needed.
  case tooShort(byteCount: Int, minimum: Int)
  /// The message has a type that isn't known.
  case unknownType(UInt8)
  /// The parameter at `offset` of the code begins with a byte that isn't known.
  case unknownParameter(UInt8, offset: Int)
  /// The instruction at `offset` of the code isn't known. The second byte is its sub-command; nil where it has none.
  case unknownInstruction(UInt8, UInt8?, offset: Int)
  /// The system command isn't known.
  case unknownSystemCommand(UInt8)
  /// The code ends within the parameter or instruction that begins at `offset`.
  case codeEnds(offset: Int)
  /// A text is not ended by a zero byte.
  case textNotEnded
  /// A text contains a zero byte, which would end it.
  case textContainsZero
  /// A text has `byteCount` bytes; at most `limit` are allowed.
  case textTooLong(byteCount: Int, limit: Int)
  /// An argument is outside of its range.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// The message has `byteCount` bytes behind its length field; at most `limit` are allowed.
  case messageTooLong(byteCount: Int, limit: Int)
  /// The results have `byteCount` bytes; at most `limit` are allowed.
  case tooManyResults(byteCount: Int, limit: Int)
  /// The local variables have `byteCount` bytes; at most `limit` are allowed.
  case tooManyLocals(byteCount: Int, limit: Int)
  /// The parameters of an instruction aren't those that it has.
  case wrongParameters(String)
  /// A line of a folder's listing can't be read.
  case malformedListing
}

extension EV3MessageError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .tooShort(let byteCount, let minimum): "it has \(Amount.bytes(byteCount)) and needs at least \(minimum)"
    case .unknownType(let type): "\(hex(type)) is not a type of message"
    case .unknownParameter(let byte, let offset): "no parameter begins with \(hex(byte)), at \(offset) of the code"
    case .unknownInstruction(let opcode, let subcode, let offset):
      "there is no instruction \(hex(opcode))\(subcode.map { " \(hex($0))" } ?? ""), at \(offset) of the code"
    case .unknownSystemCommand(let command): "there is no system command \(hex(command))"
    case .codeEnds(let offset): "the code ends in the middle of the instruction at \(offset)"
    case .textNotEnded: "a text is not ended by a zero byte"
    case .textContainsZero: "a text contains a zero byte"
    case .textTooLong(let byteCount, let limit): "a text has \(Amount.bytes(byteCount)) and may have at most \(limit)"
    case .outOfRange(let argument, let value, let range):
      "\(argument) must be \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .messageTooLong(let byteCount, let limit):
      "the message has \(Amount.bytes(byteCount)) and may have at most \(limit)"
    case .tooManyResults(let byteCount, let limit):
      "the results have \(Amount.bytes(byteCount)) and may have at most \(limit)"
    case .tooManyLocals(let byteCount, let limit):
      "the local variables have \(Amount.bytes(byteCount)) and may have at most \(limit)"
    case .wrongParameters(let name): "\(name) has other parameters"
    case .malformedListing: "a line of the folder's listing is invalid"
    }
  }

  private func hex(_ byte: UInt8) -> String { "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
