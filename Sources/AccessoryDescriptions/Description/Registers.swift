// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription {
  /// The rules of a Modbus protocol, besides its registers. Its framings, messages and requests are made from the
  /// registers.
  public struct ModbusRules: Sendable, Hashable {
    /// Whether frames travel over a network in the same form as on a serial line, as behind a gateway that doesn't
    /// translate them.
    public var isSerialOverNetwork = false
    /// The default rules.
    public init() {}
  }

  /// Adjacent registers, or coils or discrete inputs, that one request reads, and the values in them.
  public struct RegisterBlock: Sendable, Hashable {
    /// The Modbus function that reads them, 1…4.
    public var function: Int
    /// The address of the first one.
    public var start: Int
    /// How many there are.
    public var count: Int
    /// The values, with their positions in the block.
    public var values: [PlacedField] = []

    /// A block without values.
    public init(function: Int, start: Int, count: Int) {
      (self.function, self.start, self.count) = (function, start, count)
    }

    /// The size of the registers in a reply, in bytes.
    public var byteCount: Int { Modbus.byteCount(of: count, function: function) }
  }

  /// A value at a position of a block.
  public struct PlacedField: Sendable, Hashable {
    /// The position of its first byte, from the block's beginning.
    public var offset: Int
    /// What the value means.
    public var field: Field
    /// A value at this position.
    public init(_ offset: Int, _ field: Field) { (self.offset, self.field) = (offset, field) }
  }

  /// A value with the register in which it begins.
  public struct Register: Sendable, Hashable {
    /// The address of the register, coil or discrete input.
    public var address: Int
    /// How many registers (or bits) each value takes.
    public var count: Int
    /// Which byte of the register it begins with, 0 or 1.
    public var byte: Int
    /// How many values of this kind are adjacent. They are a list where the field is one.
    public var repetitions: Int
    /// What the value means.
    public var field: Field

    /// A value at an address.
    public init(_ address: Int, count: Int = 1, byte: Int = 0, repetitions: Int = 1, _ field: Field) {
      (self.address, self.count, self.byte) = (address, count, byte)
      (self.repetitions, self.field) = (repetitions, field)
    }

    /// The address behind the last value.
    var end: Int { address + count * repetitions }
  }
}

extension ProtocolDescription.RegisterBlock {
  /// The blocks that read these registers. Neighbours share a block, as long as it has at most `longest` registers and
  /// at most `hole` unused registers lie between two of them.
  public static func blocks(
    of registers: [ProtocolDescription.Register], function: Int, longest: Int, hole: Int
  ) -> [Self] {
    var blocks: [Self] = []
    // In the order of addresses; registers with one address in the order of the file.
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
      // The first coil or input is the lowest bit of a byte.
      var field = register.field
      field.bits = .init(lowest: place % 8, count: 1)
      values.append(.init(place / 8, field))
    }
  }
}

extension ProtocolDescription.RegisterBlock {
  /// The block in two parts, each with about half of the values; nil when all values share registers. Values that have
  /// registers in common stay together, and registers without a value at either end are left out.
  public var halves: (Self, Self)? {
    // Adjacent values, by the registers that they take.
    var groups: [(registers: Range<Int>, values: [ProtocolDescription.PlacedField])] = []
    for value in values.sorted(by: { $0.offset < $1.offset || $0.offset == $1.offset && bit($0) < bit($1) }) {
      let registers = registers(of: value)
      if let last = groups.last, registers.lowerBound < last.registers.upperBound {
        let end = max(last.registers.upperBound, registers.upperBound)
        groups[groups.count - 1].registers = last.registers.lowerBound..<end
        groups[groups.count - 1].values.append(value)
      } else {
        groups.append((registers, [value]))
      }
    }
    guard groups.count > 1 else { return nil }
    let middle = groups.count / 2
    return (block(groups[..<middle]), block(groups[middle...]))
  }

  private func bit(_ value: ProtocolDescription.PlacedField) -> Int {
    Modbus.isBits(function) ? value.field.bits?.lowest ?? 0 : 0
  }

  /// The registers, coils or inputs that a value takes.
  private func registers(of value: ProtocolDescription.PlacedField) -> Range<Int> {
    if Modbus.isBits(function) {
      let place = start + 8 * value.offset + bit(value)
      return place..<(place + 1)
    }
    let bytes =
      switch value.field.type {
      case .number(let format): format.byteCount
      case .text(let count, _), .bytes(let count): count
      default: 2
      }
    let first = start + value.offset / 2
    return first..<(start + max(value.offset / 2 + 1, (value.offset + bytes + 1) / 2))
  }

  private func block(
    _ groups: ArraySlice<(registers: Range<Int>, values: [ProtocolDescription.PlacedField])>
  ) -> Self {
    let first = groups.first?.registers.lowerBound ?? start
    let end = groups.last?.registers.upperBound ?? start
    var part = Self(function: function, start: first, count: end - first)
    for var value in groups.flatMap(\.values) {
      if Modbus.isBits(function) {
        let place = registers(of: value).lowerBound - first
        (value.offset, value.field.bits) = (place / 8, .init(lowest: place % 8, count: 1))
      } else {
        value.offset -= 2 * (first - start)
      }
      part.values.append(value)
    }
    return part
  }
}
