// SPDX-License-Identifier: Apache-2.0

/// Why a message of the EV3 could not be written or read.
public enum EV3MessageError: Error, Sendable, Hashable {
  /// There are `byteCount` bytes, and at least `minimum` are needed.
  case tooShort(byteCount: Int, minimum: Int)
  /// The message has a type without a meaning.
  case unknownType(UInt8)
  /// The parameter at `offset` of the code begins with a byte that announces nothing known.
  case unknownParameter(UInt8, offset: Int)
  /// The instruction at `offset` of the code is none that is known. The second byte is its sub-command, where it has one.
  case unknownInstruction(UInt8, UInt8?, offset: Int)
  /// A system command that isn't known.
  case unknownSystemCommand(UInt8)
  /// The code ends within the parameter or instruction that begins at `offset`.
  case codeEnds(offset: Int)
  /// A text is not ended by a zero byte.
  case textNotEnded
  /// A text contains a zero byte, which would end it.
  case textContainsZero
  /// A text has `byteCount` bytes, and `limit` are possible.
  case textTooLong(byteCount: Int, limit: Int)
  /// An argument is outside of what it may be.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// The message has `byteCount` bytes behind its length, and `limit` are possible.
  case messageTooLong(byteCount: Int, limit: Int)
  /// The results have `byteCount` bytes, and `limit` are possible.
  case tooManyResults(byteCount: Int, limit: Int)
  /// The local variables have `byteCount` bytes, and `limit` are possible.
  case tooManyLocals(byteCount: Int, limit: Int)
  /// An instruction was given other parameters than it has.
  case wrongParameters(String)
  /// A line of a folder's listing is no entry.
  case malformedListing
}

extension EV3MessageError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .tooShort(let byteCount, let minimum): "it has \(byteCount) bytes and needs at least \(minimum)"
    case .unknownType(let type): "\(hex(type)) is no type of message"
    case .unknownParameter(let byte, let offset): "no parameter begins with \(hex(byte)), at \(offset) of the code"
    case .unknownInstruction(let opcode, let subcode, let offset):
      "there is no instruction \(hex(opcode))\(subcode.map { " \(hex($0))" } ?? ""), at \(offset) of the code"
    case .unknownSystemCommand(let command): "there is no system command \(hex(command))"
    case .codeEnds(let offset): "the code ends within what begins at \(offset)"
    case .textNotEnded: "a text is not ended by a zero byte"
    case .textContainsZero: "a text contains a zero byte"
    case .textTooLong(let byteCount, let limit): "a text has \(byteCount) bytes and may have at most \(limit)"
    case .outOfRange(let argument, let value, let range):
      "\(argument) is \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .messageTooLong(let byteCount, let limit): "the message has \(byteCount) bytes and may have at most \(limit)"
    case .tooManyResults(let byteCount, let limit): "the results have \(byteCount) bytes and may have at most \(limit)"
    case .tooManyLocals(let byteCount, let limit):
      "the local variables have \(byteCount) bytes and may have at most \(limit)"
    case .wrongParameters(let name): "\(name) has other parameters"
    case .malformedListing: "a line of the folder's listing is no entry"
    }
  }

  private func hex(_ byte: UInt8) -> String { "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
