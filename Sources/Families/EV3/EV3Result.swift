// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// A result of an instruction, decoded from the reply to its message.
struct EV3Result: Sendable, Hashable {
  /// The instruction.
  let operation: EV3Operation
  /// The result's value.
  let value: PlainValue

  /// Decodes the results of an instruction from the reply's bytes. Results outside these bytes are left out.
  static func results(of instruction: EV3Instruction, in globals: [UInt8]) -> [EV3Result] {
    var results: [EV3Result] = []
    for (index, parameter) in instruction.parameters.enumerated() {
      // An operation with a varying number of results has them as its last parameters, all of the last kind.
      let kinds = instruction.operation.parameters
      let kind = kinds.indices.contains(index) ? kinds[index] : kinds.last
      guard case .global(let offset) = parameter.value, let kind else { continue }
      let value: PlainValue? =
        switch kind {
        case .result(let kind): number(kind, at: offset, in: globals)
        case .results(let kind): kind.flatMap { number($0, at: offset, in: globals) }
        case .bytes: text(in: globals, at: offset, count: count(in: instruction.parameters, before: index))
        case .int8, .int16, .int32, .text: nil
        }
      if let value { results.append(EV3Result(operation: instruction.operation, value: value)) }
    }
    return results
  }

  private static func number(_ kind: EV3ResultKind, at offset: Int, in globals: [UInt8]) -> PlainValue? {
    guard offset >= 0, offset <= globals.count - kind.byteCount else { return nil }
    let bits = (0..<kind.byteCount).reduce(UInt32(0)) { $0 | UInt32(globals[offset + $1]) << UInt32(8 * $1) }
    switch kind {
    case .int8: return .whole(Int(Int8(truncatingIfNeeded: bits)))
    case .int16: return .whole(Int(Int16(truncatingIfNeeded: bits)))
    case .int32: return .whole(Int(Int32(truncatingIfNeeded: bits)))
    case .float:
      let number = Double(Float(bitPattern: bits))
      // A sensor that isn't there returns NaN.
      guard number.isFinite else { return .nothing }
      return .number(abs(number) < 1e9 ? (number * 10_000).rounded() / 10_000 : number)
    }
  }

  private static func count(in parameters: [EV3Parameter], before index: Int) -> Int {
    guard index > 0, case .constant(let count) = parameters[index - 1].value else { return 0 }
    return Int(max(0, count))
  }

  /// A text up to its zero byte; bytes, if they aren't valid text.
  private static func text(in globals: [UInt8], at offset: Int, count: Int) -> PlainValue? {
    guard count > 0, offset >= 0, offset < globals.count else { return nil }
    let bytes = globals[offset...].prefix(count)
    let text = bytes.prefix { $0 != 0 }
    guard text.count < bytes.count || bytes.allSatisfy({ $0 >= 0x20 }), !text.contains(where: { $0 < 0x20 }),
      let string = String(validating: text, as: UTF8.self)
    else { return .bytes(Array(bytes)) }
    return .text(string)
  }

  // MARK: - In words

  /// The result in words, with its name and its unit.
  var text: String {
    let name = operation.name.split(separator: " ").last.map(String.init) ?? operation.name
    let text =
      switch value {
      case .whole(let number): "\(number)"
      case .number(let number): "\(number)"
      case .text(let text): FrameWords.quoted(text)
      case .bytes(let bytes): Hexadecimal.string(bytes.prefix(32)) + (bytes.count > 32 ? "…" : "")
      case .list, .flag, .nothing: "-"
      }
    return "\(name) \(text)\(unit.map { " \($0)" } ?? "")"
  }

  private var unit: String? {
    switch (operation.opcode, operation.subcode) {
    case (0x81, 1): "V"
    case (0x81, 2), (0x81, 6), (0x81, 7): "A"
    case (0x81, 18), (0x7C, 4): "%"
    case (0x7C, 6): "min"
    default: nil
    }
  }

  /// All results as fields named after their instructions, and those of the battery also in the units that all drivers use.
  static func fields(of results: [EV3Result]) -> [FrameField] {
    var fields: [FrameField] = []
    for result in results {
      let name = String(result.operation.name.lowercased().map { $0 == " " ? "_" : $0 })
      guard let place = fields.firstIndex(where: { $0.name == name }) else {
        fields.append(FrameField(name, result.value))
        continue
      }
      if case .list(let list) = fields[place].value {
        fields[place].value = .list(list + [result.value])
      } else {
        fields[place].value = .list([fields[place].value, result.value])
      }
    }
    let battery: [(BatteryReading.Field, subcode: UInt8, factor: Double)] = [
      (.percent, 18, 1), (.voltage, 1, 1_000), (.current, 2, -1_000),
    ]
    for (field, subcode, factor) in battery {
      let result = results.last { $0.operation.opcode == 0x81 && $0.operation.subcode == subcode }
      switch result?.value {
      case .whole(let number)?: fields += FrameField.battery(field, number)
      // 1000 V or A and more is no valid value of a battery.
      case .number(let number)? where abs(number) < 1_000:
        fields += FrameField.battery(field, Int((number * factor).rounded()))
      default: break
      }
    }
    return fields
  }
}
