// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// What a protocol that is Modbus says of the line. Its framings, messages and requests follow from its registers.
  public struct ModbusRules: Sendable, Hashable {
    /// Whether frames travel through a network as on a serial line, behind a gateway that doesn't translate them.
    public var isSerialOverNetwork = false
    /// The usual rules.
    public init() {}
  }

  /// Registers side by side, or coils or discrete inputs, that one request reads, and the values in them.
  public struct RegisterBlock: Sendable, Hashable {
    /// The function that reads them, 1…4.
    public var function: Int
    /// The first one's address.
    public var start: Int
    /// How many they are.
    public var count: Int
    /// The values, by their places.
    public var values: [PlacedField] = []

    /// These registers, of which nothing is known yet.
    public init(function: Int, start: Int, count: Int) {
      (self.function, self.start, self.count) = (function, start, count)
    }

    /// Bytes of them in a reply.
    public var byteCount: Int { Modbus.byteCount(of: count, function: function) }
  }

  /// A value at a place of a block.
  public struct PlacedField: Sendable, Hashable {
    /// The first of its bytes, from the block's beginning.
    public var offset: Int
    /// What it is.
    public var field: Field
    /// A value at this place.
    public init(_ offset: Int, _ field: Field) { (self.offset, self.field) = (offset, field) }
  }

  /// A value with the register in which it begins.
  public struct Register: Sendable, Hashable {
    /// Its address: of a register, or of a coil or discrete input.
    public var address: Int
    /// How many registers (or bits) each value takes.
    public var count: Int
    /// Which byte of the register it begins with, 0 or 1.
    public var byte: Int
    /// How many values of its kind there are side by side; they are a list where the field is.
    public var repetitions: Int
    /// What it is.
    public var field: Field

    /// A value at an address.
    public init(_ address: Int, count: Int = 1, byte: Int = 0, repetitions: Int = 1, _ field: Field) {
      (self.address, self.count, self.byte) = (address, count, byte)
      (self.repetitions, self.field) = (repetitions, field)
    }

    /// The address behind it.
    var end: Int { address + count * repetitions }
  }
}

extension ProtocolDescription.RegisterBlock {
  /// The requests that read these values: neighbours together, as long as a request has at most `longest` registers, and
  /// no more than `hole` lie between two of them that nobody asked for.
  public static func blocks(
    of registers: [ProtocolDescription.Register], function: Int, longest: Int, hole: Int
  ) -> [Self] {
    var blocks: [Self] = []
    // By address; at one address in the order of the file.
    let sorted = registers.enumerated().sorted { ($0.element.address, $0.offset) < ($1.element.address, $1.offset) }
    for (_, register) in sorted {
      if let last = blocks.last {
        let end = max(last.start + last.count, register.end)
        if register.address <= last.start + last.count + hole, end - last.start <= longest {
          blocks[blocks.count - 1].count = end - last.start
          blocks[blocks.count - 1].add(register)
          continue
        }
      }
      var block = Self(function: function, start: register.address, count: register.end - register.address)
      block.add(register)
      blocks.append(block)
    }
    return blocks
  }

  private mutating func add(_ register: ProtocolDescription.Register) {
    for repetition in 0..<register.repetitions {
      let place = register.address - start + repetition * register.count
      guard Modbus.isBits(function) else {
        values.append(.init(2 * place + register.byte, register.field))
        continue
      }
      // The lowest bit of a byte is the first.
      var field = register.field
      field.bits = .init(lowest: place % 8, count: 1)
      values.append(.init(place / 8, field))
    }
  }
}
