// SPDX-License-Identifier: Apache-2.0

/// Code for the EV3's virtual machine, and the sizes of its variables: the body of a direct command.
public struct EV3DirectCommand: Sendable, Hashable {
  /// The size of the global variables, which are returned in the reply, in bytes.
  public var globalByteCount: Int
  /// The size of the local variables, in bytes.
  public var localByteCount: Int
  /// The code to run.
  public var code: [UInt8]

  /// A command of these parts.
  ///
  /// - Throws: `tooManyResults`, `tooManyLocals`, `messageTooLong`.
  public init(globalByteCount: Int = 0, localByteCount: Int = 0, code: [UInt8]) throws(EV3MessageError) {
    guard (0...EV3Limits.globals).contains(globalByteCount) else {
      throw .tooManyResults(byteCount: globalByteCount, limit: EV3Limits.globals)
    }
    guard (0...EV3Limits.locals).contains(localByteCount) else {
      throw .tooManyLocals(byteCount: localByteCount, limit: EV3Limits.locals)
    }
    let count = 5 + code.count
    guard count <= EV3Limits.messageBehindLength else {
      throw .messageTooLong(byteCount: count, limit: EV3Limits.messageBehindLength)
    }
    self.globalByteCount = globalByteCount
    self.localByteCount = localByteCount
    self.code = code
  }

  /// A command of these instructions.
  ///
  /// - Throws: `tooManyResults`, `tooManyLocals`, `messageTooLong`.
  public init(globalByteCount: Int = 0, localByteCount: Int = 0, _ instructions: [EV3Instruction])
    throws(EV3MessageError)
  {
    try self.init(globalByteCount: globalByteCount, localByteCount: localByteCount, code: instructions.code)
  }

  /// The instructions in the code.
  ///
  /// - Throws: `unknownInstruction` for an instruction that isn't known, `wrongParameters`, and errors of parameters.
  public func instructions() throws(EV3MessageError) -> [EV3Instruction] {
    try EV3Instruction.decode(code.span.bytes)
  }

  // MARK: - On the wire

  /// The body of the command's message.
  public var body: [UInt8] {
    let header = UInt16(localByteCount << 10 | globalByteCount)
    return [UInt8(truncatingIfNeeded: header), UInt8(header >> 8)] + code
  }

  /// Reads the body of a message.
  ///
  /// - Throws: `tooShort`, `tooManyResults`, `messageTooLong`.
  public init(decoding body: [UInt8]) throws(EV3MessageError) {
    guard body.count >= 2 else { throw .tooShort(byteCount: body.count, minimum: 2) }
    let header = Int(body[0]) | Int(body[1]) << 8
    try self.init(globalByteCount: header & 0x3FF, localByteCount: header >> 10, code: Array(body[2...]))
  }

  /// The message for this command.
  public func message(_ number: UInt16, wantsReply: Bool) -> EV3Message {
    EV3Message(number: number, type: wantsReply ? .directCommand : .directCommandNoReply, body: body)
  }
}
