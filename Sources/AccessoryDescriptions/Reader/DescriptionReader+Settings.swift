// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads what a request sets.
extension DescriptionReader {
  /// Reads `sets`: fields of this file, each with an argument of the request in braces, or with a value.
  mutating func settings(_ node: YAMLNode, _ request: ProtocolDescription.Request) -> [ProtocolDescription.Setting] {
    let fields = description.messages.flatMap(\.fields)
    return (entries(node, "sets", limit: 16) ?? []).compactMap { entry in
      guard let place = reference(entry.key, entry.mark, "a value of this file's messages", among: fields.map(\.name))
      else { return nil }
      if !fields[place].formula.isInvertible {
        report(
          entry.mark,
          "\(entry.key) can't be set: its formula isn't linear in raw, so the number to send can't be calculated from a value"
        )
        return nil
      }
      return source(entry, fields[place], request).map { ProtocolDescription.Setting(entry.key, $0) }
    }
  }

  private mutating func source(
    _ entry: YAMLNode.Entry, _ field: ProtocolDescription.Field, _ request: ProtocolDescription.Request
  ) -> ProtocolDescription.Setting.Source? {
    let node = entry.value
    if case .scalar(let text) = node.content, text.hasPrefix("{"), text.hasSuffix("}") {
      let name = String(text.dropFirst().dropLast())
      let arguments = request.arguments.map(\.name)
      guard reference(name, node.mark, "an argument of this request", among: arguments) != nil else { return nil }
      return .argument(name)
    }
    if field.isBoolean { return flag(node, entry.key).map { .value(.flag($0)) } }
    if !field.words.isEmpty {
      return word(node, entry.key, among: field.words.values.sorted()).map { .value(.text($0)) }
    }
    if !field.flags.isEmpty {
      return word(node, entry.key, among: ["none"] + field.flags.values.sorted()).map {
        .value($0 == "none" ? .list([]) : .list([.text($0)]))
      }
    }
    guard field.isNumber else { return text(node, entry.key, limit: 200).map { .value(.text($0)) } }
    return decimal(node, entry.key).map { number in .value(Int(exactly: number).map { .whole($0) } ?? .number(number)) }
  }
}

extension ProtocolDescription.Field {
  /// Whether the value is a number: neither a word nor yes or no.
  fileprivate var isNumber: Bool {
    switch type {
    case .number, .scattered, .digits, .decimal, .hexadecimal, .hexadecimalBytes, .bitText: true
    case .text, .terminatedText, .prefixedText, .restOfText, .bytes, .packedDate, .word, .plainText: false
    }
  }
}
