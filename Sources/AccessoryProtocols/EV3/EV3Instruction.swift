// SPDX-License-Identifier: Apache-2.0

/// A number that an instruction gives back.
public enum EV3ResultKind: Sendable, Hashable {
  /// One byte.
  case int8
  /// Two bytes.
  case int16
  /// Four bytes.
  case int32
  /// Four bytes, IEEE 754.
  case float

  /// Bytes that it has; it lies at a multiple of that.
  public var byteCount: Int {
    switch self {
    case .int8: 1
    case .int16: 2
    case .int32, .float: 4
    }
  }
}

/// An instruction of the EV3's virtual machine, and what its parameters are.
public struct EV3Operation: Sendable, Hashable {
  /// What a parameter is.
  public enum Parameter: Sendable, Hashable {
    /// A number of one byte.
    case int8
    /// A number of two bytes.
    case int16
    /// A number of four bytes.
    case int32
    /// A text.
    case text
    /// A place for a number that is given back.
    case result(EV3ResultKind)
    /// A place for as many bytes as the parameter in front of it says.
    case bytes
    /// As many places as the parameter in front of them says, each for a number; nil: of the kind that a format before
    /// tells.
    case results(EV3ResultKind?)
  }

  /// The first byte.
  public let opcode: UInt8
  /// The byte behind it, where one opcode has many meanings.
  public let subcode: UInt8?
  /// What LEGO's firmware calls it.
  public let name: String
  /// What follows.
  public let parameters: [Parameter]

  init(_ opcode: UInt8, _ name: String, _ parameters: [Parameter] = []) { self.init(opcode, nil, name, parameters) }

  init(_ opcode: UInt8, _ subcode: UInt8?, _ name: String, _ parameters: [Parameter] = []) {
    self.opcode = opcode
    self.subcode = subcode
    self.name = name
    self.parameters = parameters
  }
}

/// An instruction with its parameters.
public struct EV3Instruction: Sendable, Hashable {
  /// Which one.
  public let operation: EV3Operation
  /// As many as the operation has; places for several results count one each.
  public let parameters: [EV3Parameter]

  /// An instruction; the parameters' number is compared with what the operation has.
  ///
  /// - Throws: `wrongParameters`.
  public init(_ operation: EV3Operation, _ parameters: [EV3Parameter] = []) throws(EV3MessageError) {
    let last = operation.parameters.last
    if case .results = last {
      guard parameters.count >= operation.parameters.count - 1 else { throw .wrongParameters(operation.name) }
    } else if parameters.count != operation.parameters.count {
      throw .wrongParameters(operation.name)
    }
    self.operation = operation
    self.parameters = parameters
  }

  private init(unchecked operation: EV3Operation, _ parameters: [EV3Parameter]) {
    self.operation = operation
    self.parameters = parameters
  }

  /// Appends it.
  public func encode(into output: inout [UInt8]) {
    output.append(operation.opcode)
    // A sub-command is a parameter like others, and all there are fit into a byte.
    if let subcode = operation.subcode { output.append(subcode) }
    for parameter in parameters { parameter.encode(into: &output) }
  }

  /// Reads all instructions of `code`.
  ///
  /// - Throws: `unknownInstruction` where one isn't known, after which nobody can tell where the next begins, and what
  ///   reading a parameter throws.
  public static func decode(_ code: RawSpan) throws(EV3MessageError) -> [EV3Instruction] {
    var instructions: [EV3Instruction] = []
    var offset = 0
    while offset < code.byteCount { instructions.append(try EV3Instruction(decoding: code, at: &offset)) }
    return instructions
  }

  private init(decoding code: RawSpan, at offset: inout Int) throws(EV3MessageError) {
    let start = offset
    let opcode = code.byte(at: start)
    offset += 1
    var subcode: UInt8?
    if EV3Operation.hasSubcodes(opcode) {
      guard case .constant(let number) = try EV3Parameter(decoding: code, at: &offset).value,
        let byte = UInt8(exactly: number)
      else { throw .unknownInstruction(opcode, nil, offset: start) }
      subcode = byte
    }
    guard let operation = EV3Operation.known(opcode, subcode) else {
      throw .unknownInstruction(opcode, subcode, offset: start)
    }
    var parameters: [EV3Parameter] = []
    for kind in operation.parameters {
      guard case .results = kind else {
        parameters.append(try EV3Parameter(decoding: code, at: &offset))
        continue
      }
      guard case .constant(let count)? = parameters.last?.value, (0...255).contains(count) else {
        throw .wrongParameters(operation.name)
      }
      for _ in 0..<count { parameters.append(try EV3Parameter(decoding: code, at: &offset)) }
    }
    self.init(unchecked: operation, parameters)
  }
}

extension [EV3Instruction] {
  /// The code of all.
  public var code: [UInt8] {
    var code: [UInt8] = []
    for instruction in self { instruction.encode(into: &code) }
    return code
  }
}
