// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// What requests change in the device.
extension DescribedDevice {
  /// Sets the values that a request sets. `arguments` are its arguments as raw numbers.
  mutating func carryOut(_ request: ProtocolDescription.Request, _ arguments: [String: Int]) {
    let fields = description.messages.flatMap(\.fields)
    for setting in request.sets {
      guard let field = fields.first(where: { $0.name == setting.field }) else { continue }
      let value: PlainValue
      switch setting.source {
      case .value(let constant): value = constant
      case .argument(let name):
        guard let argument = request.arguments.first(where: { $0.name == name }),
          let raw = arguments[name] ?? argument.defaultValue
        else { continue }
        value = field.value(of: argument, raw)
      }
      values[field.name] = field.isList ? .list([value]) : value
    }
  }
}

extension ProtocolDescription.Field {
  /// The field's value for an argument: yes or no, the same word, or the number that a person would type.
  fileprivate func value(of argument: ProtocolDescription.Argument, _ raw: Int) -> PlainValue {
    if isBoolean { return .flag(raw != 0) }
    if !flags.isEmpty {
      return .list(
        flags.keys.sorted().filter { $0 < 63 && raw >> $0 & 1 == 1 }.compactMap { flags[$0].map { .text($0) } })
    }
    let typed = argument.words.filter { $0.value == raw }.keys.sorted()
    if !words.isEmpty {
      if let word = typed.first(where: { words.values.contains($0) }) { return .text(word) }
      return words[raw].map { .text($0) } ?? .nothing
    }
    switch type {
    case .word(let words):
      // As the accessory writes it.
      if let word = typed.first(where: { words[$0] != nil }) { return .text(word) }
      return words.filter { $0.value == raw }.keys.min().map { .text($0) } ?? .nothing
    case .plainText, .text, .terminatedText, .prefixedText, .restOfText:
      return .text(typed.first ?? argument.number(raw).asExampleText)
    default: return argument.number(raw)
    }
  }
}

extension ProtocolDescription.Argument {
  /// The number as a person types it.
  fileprivate func number(_ raw: Int) -> PlainValue {
    formula.linear.flatMap { $0.plainValue(raw) } ?? .nothing
  }
}
