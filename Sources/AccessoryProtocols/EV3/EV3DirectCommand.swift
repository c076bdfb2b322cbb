// SPDX-License-Identifier: Apache-2.0

/// Code for the EV3's virtual machine, with the room that it needs: the body of a direct command.
public struct EV3DirectCommand: Sendable, Hashable {
  /// Bytes that come back with the reply.
  public var globals: Int
  /// Bytes that the code has for itself.
  public var locals: Int
  /// What is to be run.
  public var code: [UInt8]

  /// A command of these parts.
  ///
  /// - Throws: `tooManyResults`, `tooManyLocals`, `messageTooLong`.
  public init(globals: Int = 0, locals: Int = 0, code: [UInt8]) throws(EV3MessageError) {
    guard (0...EV3Limits.globals).contains(globals) else {
      throw .tooManyResults(byteCount: globals, limit: EV3Limits.globals)
    }
    guard (0...EV3Limits.locals).contains(locals) else {
      throw .tooManyLocals(byteCount: locals, limit: EV3Limits.locals)
    }
    let count = 5 + code.count
    guard count <= EV3Limits.messageBehindLength else {
      throw .messageTooLong(byteCount: count, limit: EV3Limits.messageBehindLength)
    }
    self.globals = globals
    self.locals = locals
    self.code = code
  }

  /// A command of these instructions.
  ///
  /// - Throws: `tooManyResults`, `tooManyLocals`, `messageTooLong`.
  public init(globals: Int = 0, locals: Int = 0, _ instructions: [EV3Instruction]) throws(EV3MessageError) {
    try self.init(globals: globals, locals: locals, code: instructions.code)
  }

  /// The instructions in the code.
  ///
  /// - Throws: `unknownInstruction` where one isn't known, and what reading a parameter throws.
  public func instructions() throws(EV3MessageError) -> [EV3Instruction] {
    try EV3Instruction.decode(code.span.bytes)
  }

  // MARK: - On the wire

  /// The body of its message.
  public var body: [UInt8] {
    let header = UInt16(locals << 10 | globals)
    return [UInt8(truncatingIfNeeded: header), UInt8(header >> 8)] + code
  }

  /// Reads the body of a message.
  ///
  /// - Throws: `tooShort`, `tooManyResults`, `messageTooLong`.
  public init(decoding body: [UInt8]) throws(EV3MessageError) {
    guard body.count >= 2 else { throw .tooShort(byteCount: body.count, minimum: 2) }
    let header = Int(body[0]) | Int(body[1]) << 8
    try self.init(globals: header & 0x3FF, locals: header >> 10, code: Array(body[2...]))
  }

  /// The whole message.
  public func message(_ number: UInt16, wantsReply: Bool) -> EV3Message {
    EV3Message(number: number, type: wantsReply ? .directCommand : .directCommandNoReply, body: body)
  }
}
