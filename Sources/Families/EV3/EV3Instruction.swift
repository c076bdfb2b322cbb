// SPDX-License-Identifier: Apache-2.0

/// The type of a number that an instruction returns.
public enum EV3ResultKind: Sendable, Hashable {
  /// One byte.
  case int8
  /// Two bytes.
  case int16
  /// Four bytes.
  case int32
  /// Four bytes, IEEE 754.
  case float

  /// The size in bytes. The number's offset in the results is a multiple of it.
  public var byteCount: Int {
    switch self {
    case .int8: 1
    case .int16: 2
    case .int32, .float: 4
    }
  }
}

/// An instruction of the EV3's virtual machine, with the types of its parameters.
public struct EV3Operation: Sendable, Hashable {
  /// The type of a parameter.
  public enum Parameter: Sendable, Hashable {
    /// A number of one byte.
    case int8
    /// A number of two bytes.
    case int16
    /// A number of four bytes.
    case int32
    /// A text.
    case text
    /// A place for a number that is returned.
    case result(EV3ResultKind)
    /// A place for bytes that are returned; the parameter in front of it is their count.
    case bytes
    /// Places for numbers that are returned; the parameter in front of them is their count. Nil: an earlier parameter,
    /// a format, decides their type.
    case results(EV3ResultKind?)
  }

  /// The first byte of the instruction.
  public let opcode: UInt8
  /// The sub-command, for opcodes that have several; otherwise nil.
  public let subcode: UInt8?
  /// The name in LEGO's firmware.
  public let name: String
  /// The types of the parameters.
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
  /// The operation.
  public let operation: EV3Operation
  /// The parameters of the operation. Each place of `results` is a parameter of its own.
  public let parameters: [EV3Parameter]

  /// An instruction with these parameters.
  ///
  /// - Throws: `wrongParameters` if the operation has another number of parameters.
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

  /// Appends the encoded instruction to `output`.
  public func encode(into output: inout [UInt8]) {
    output.append(operation.opcode)
    // A sub-command is encoded like a parameter; all that exist fit into one byte.
    if let subcode = operation.subcode { output.append(subcode) }
    for parameter in parameters { parameter.encode(into: &output) }
  }

  /// Reads all instructions of `code`.
  ///
  /// - Throws: `unknownInstruction` for an instruction that isn't known, since its length isn't known either;
  ///   `wrongParameters`, and errors of parameters.
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
  /// The code of all instructions.
  public var code: [UInt8] {
    var code: [UInt8] = []
    for instruction in self { instruction.encode(into: &code) }
    return code
  }
}
