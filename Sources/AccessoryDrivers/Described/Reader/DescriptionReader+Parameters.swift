// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Numbers that the user gives, as the accessory doesn't tell them.
extension DescriptionReader {
  /// Read behind the messages, none of whose values has a parameter's name.
  mutating func parameters(_ node: YAMLNode) {
    for entry in entries(node, "parameters", limit: 16) ?? [] {
      guard isPlainName(entry, "a parameter's name") else { continue }
      if let known = values[entry.key] {
        report(entry.mark, "\(entry.key) is a value already, in line \(known.line)")
        continue
      }
      if CommonValues.isNear(entry.key) || CommonValues.names.contains(entry.key) {
        report(
          entry.mark, "\(entry.key) looks like a value that the accessory tells: call the parameter something else")
      }
      let parameter = parameter(entry)
      values[entry.key] = ValueType(.number, unit: parameter?.unit, line: entry.mark.line)
      description.parameters.append(parameter ?? ProtocolDescription.Parameter(entry.key, 0...0))
    }
  }

  private mutating func parameter(_ entry: YAMLNode.Entry) -> ProtocolDescription.Parameter? {
    guard let fields = fields(entry.value, "a parameter", DescriptionKeys.parameter) else { return nil }
    for key in ["from", "to"] where fields[key] == nil {
      report(entry.mark, "\(key) is missing: what \(entry.key) may be, like {unit: V, from: 1, to: 500}")
    }
    let from = fields["from"].flatMap { decimal($0, "from") }
    let to = fields["to"].flatMap { decimal($0, "to") }
    guard let from, let to else { return nil }
    guard from <= to else {
      report(fields["to"]?.mark ?? entry.mark, "to is less than from, which is \(NumberText.text(from))")
      return nil
    }
    var parameter = ProtocolDescription.Parameter(entry.key, from...to)
    set(&parameter.summary, fields["summary"].flatMap { text($0, "summary", limit: 200) })
    parameter.unit = fields["unit"].flatMap { text($0, "unit", limit: 16) }
    if let node = fields["default"] { parameter.standard = decimal(node, "default", from...to) }
    return parameter
  }

  /// A number with or without a fraction.
  mutating func decimal(_ node: YAMLNode, _ what: String, _ range: ClosedRange<Double>? = nil) -> Double? {
    if case .scalar(let text) = node.content, !text.contains("/"), let number = Self.fraction(text)?.value,
      range?.contains(number) ?? true
    {
      return number
    }
    let bounds =
      range.map { " from \(NumberText.text($0.lowerBound)) to \(NumberText.text($0.upperBound))" } ?? ", like 21.5"
    report(node.mark, "\(what) is a number\(bounds), not \(kind(node))")
    return nil
  }

  /// What an example says of the parameters.
  mutating func exampleParameters(_ node: YAMLNode) -> [String: Double] {
    var numbers: [String: Double] = [:]
    let known = description.parameters
    for entry in entries(node, "parameters", limit: 16) ?? [] {
      guard
        let place = reference(entry.key, entry.mark, "a parameter of this file", among: known.map(\.name))
      else { continue }
      numbers[entry.key] = decimal(entry.value, entry.key, known[place].range)
    }
    return numbers
  }
}
