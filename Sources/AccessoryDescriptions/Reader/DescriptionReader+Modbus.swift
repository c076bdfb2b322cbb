// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads a description of a Modbus accessory, whose requests are generated from its registers.
extension DescriptionReader {
  /// Settings for all registers of a file.
  struct ModbusSettings {
    var rules = ProtocolDescription.ModbusRules()
    /// The unit that requests go to by default.
    var unit = 1
    /// The units that a search asks; nil means all that Modbus allows on a line.
    var scan: ClosedRange<Int>?
    /// The most registers in one request.
    var longest = Modbus.registersPerRequest
    /// The most unused registers between two others that may be read with them in one request.
    var across = 0
    /// Whether the low word of a number in several registers comes first.
    var isLowWordFirst = false
  }

  /// Reads the registers and the settings. Reports the keys that Modbus replaces.
  mutating func modbus(_ fields: KeyedNodes, _ mark: YAMLMark) {
    for key in ["framings", "units", "messages", "requests"] {
      if let node = fields[key] {
        report(node.mark, "\(key) can't be used with Modbus: requests and replies follow from registers")
      }
    }
    if fields["byte_order"] == nil { order = .bigEndian }
    var settings = ModbusSettings()
    if let node = fields["modbus"] { self.settings(node, &settings) }
    description.becomeModbus(settings.rules, unit: settings.unit)
    if let scan = settings.scan { description.units?.scan = scan }
    guard let node = fields["registers"] else {
      report(mark, "registers are missing: the groups of registers and their fields")
      return
    }
    for entry in entries(node, "registers", limit: Self.requestLimit) ?? [] {
      let before = problems.count
      if isPlainName(entry, "a group's name"), description.request(named: entry.key) != nil {
        report(entry.mark, "\(entry.key) is the name of a request of another group")
      }
      group(entry, settings)
      if problems.count > before { hasBrokenMessages = true }
    }
    if description.requests.count > Self.requestLimit {
      report(
        node.mark,
        "these registers need \(description.requests.count) requests, more than \(Self.requestLimit): put neighbours "
          + "into one group")
    }
  }

  private mutating func settings(_ node: YAMLNode, _ settings: inout ModbusSettings) {
    guard let fields = keys(node, DescriptionKeys.modbus) else { return }
    set(&settings.unit, number(fields, "unit_number"))
    settings.scan = fields["scan"].flatMap { scan($0, 0...255) }
    set(&settings.longest, number(fields, "longest"))
    set(&settings.across, number(fields, "across"))
    set(&settings.isLowWordFirst, isLowFirst(fields))
    set(&settings.rules.isSerialOverNetwork, word(fields, "tcp").map { $0 == "rtu" })
  }

  private mutating func isLowFirst(_ fields: KeyedNodes) -> Bool? { word(fields, "words_first").map { $0 == "low" } }

  /// Reads a group of registers, and combines them into as few requests as possible.
  private mutating func group(_ entry: YAMLNode.Entry, _ settings: ModbusSettings) {
    guard let fields = keys(entry.value, DescriptionKeys.registers, at: entry.mark), let node = fields["function"],
      let list = fields["fields"]
    else { return }
    let summary = text(fields, "summary") ?? ""
    guard let function = integer(node, "function (1 coils, 2 inputs, 3 and 4 registers)", Modbus.readFunctions) else {
      return
    }
    var scope = MessageScope(framing: 0)
    var registers: [ProtocolDescription.Register] = []
    var lines: [String: Int] = [:]
    for node in self.list(list, "fields", limit: Self.stepLimit) ?? [] {
      guard let register = register(node, function, settings, &scope) else { continue }
      if let line = lines.updateValue(node.mark.line, forKey: register.field.name), !register.field.isList {
        report(node.mark, "the field \(register.field.name) is already defined in line \(line)")
      }
      registers.append(register)
    }
    lookUp(scope)
    let longest = Modbus.isBits(function) ? Modbus.bitsPerRequest : settings.longest
    let blocks = ProtocolDescription.RegisterBlock.blocks(
      of: registers, function: function, longest: longest, hole: settings.across)
    if blocks.reduce(0, { $0 + $1.values.count }) > ProtocolDescription.Limit.values {
      report(list.mark, "these registers are more than \(ProtocolDescription.Limit.values) values")
      return
    }
    add(entry.key, summary, blocks, isOptional: flag(fields, "optional") ?? false)
  }

  /// Adds the requests of a group. The first has the group's name; the others have "-2", "-3" and so on appended.
  private mutating func add(
    _ name: String, _ summary: String, _ blocks: [ProtocolDescription.RegisterBlock], isOptional: Bool
  ) {
    let first = description.requests.count
    for (index, block) in blocks.enumerated() {
      description.addRequest(index == 0 ? name : "\(name)-\(index + 1)", summary, reads: block)
    }
    for index in description.requests.indices.suffix(from: first) {
      description.requests[index].isOptional = isOptional
    }
    groups[first] = description.requests.indices.suffix(from: min(first, description.requests.count))
  }

  // MARK: - Registers

  private mutating func register(
    _ node: YAMLNode, _ function: Int, _ settings: ModbusSettings, _ scope: inout MessageScope
  ) -> ProtocolDescription.Register? {
    guard var fields = keys(node, DescriptionKeys.register), let at = fields["at"] else { return nil }
    let address: Int? = number(fields, "at")
    guard let repetitions = fields["repeat"] == nil ? 1 : number(fields, "repeat") else { return nil }
    if Modbus.isBits(function) { bitField(&fields, at.mark) }
    guard var field = field(fields, node.mark, .bytes, &scope), let address else { return nil }
    var register = ProtocolDescription.Register(address, repetitions: repetitions, field)
    if !Modbus.isBits(function) {
      guard let count = registers(fields, &field, settings, &register.byte) else { return nil }
      (register.field, register.count) = (field, count)
    }
    let (count, longest) = (
      register.count * repetitions, Modbus.isBits(function) ? Modbus.bitsPerRequest : settings.longest
    )
    guard count <= longest else {
      report(node.mark, "this takes \(Amount.of(count, "register")), and a request has at most \(longest)")
      return nil
    }
    guard address + count <= 0x1_0000 else {
      report(at.mark, "this goes beyond the last register, 0xFFFF")
      return nil
    }
    return register
  }

  /// Sets the type of a coil or a discrete input: a single bit.
  private mutating func bitField(_ fields: inout KeyedNodes, _ mark: YAMLMark) {
    for key in ["type", "bits", "half", "words_first", "value", "flags"] {
      if let node = fields[key] { report(node.mark, "\(key) can't be used for a coil or an input, which is one bit") }
      fields[key] = nil
    }
    fields["type"] = YAMLNode(content: .scalar("u8"), mark: mark)
    fields["bits"] = YAMLNode(content: .scalar("0"), mark: mark)
  }

  /// The number of registers of a value. For a single byte, sets which half of the register it is.
  private mutating func registers(
    _ keys: KeyedNodes, _ field: inout ProtocolDescription.Field, _ settings: ModbusSettings, _ byte: inout Int
  ) -> Int? {
    let mark = keys["type"]?.mark ?? YAMLMark(line: 1, column: 1)
    let bytes: Int
    switch field.type {
    case .number(var format):
      bytes = format.byteCount
      let isLow = isLowFirst(keys) ?? settings.isLowWordFirst
      if bytes > 2, bytes.isMultiple(of: 2), isLow {
        format.hasWordsSwapped = true
        field.type = .number(format)
      }
    case .text(let count, _), .bytes(let count): bytes = count
    case .packedDate: bytes = 2
    default:
      report(mark, "a register has no such type: it has numbers, date16, text or hex with bytes")
      return nil
    }
    if let node = keys["half"] {
      guard bytes == 1, field.isList == false else {
        report(node.mark, "half is only for one number of one byte, like u8")
        return nil
      }
      byte = word(node, "half", among: ["high", "low"]) == "low" ? 1 : 0
      return 1
    }
    guard bytes.isMultiple(of: 2) else {
      report(
        mark, bytes == 1 ? "half is missing: which byte of the register, high or low" : "a register has two bytes")
      return nil
    }
    if bytes <= 2, let node = keys["words_first"] {
      report(node.mark, "words_first is only for numbers of several registers")
    }
    return bytes / 2
  }
}
