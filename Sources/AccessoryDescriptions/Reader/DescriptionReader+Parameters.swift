// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

// Reads parameters: numbers that the user sets because the accessory doesn't report them.
extension DescriptionReader {
  /// Reads the parameters. Called after the messages, because a parameter can't have the name of a value.
  mutating func parameters(_ node: YAMLNode) {
    for entry in entries(node, "parameters", limit: 16) ?? [] {
      guard isPlainName(entry, "a parameter's name") else { continue }
      if let known = values[entry.key] {
        report(entry.mark, "\(entry.key) is already the name of a value, in line \(known.line)")
        continue
      }
      if CommonValues.isNear(entry.key) || CommonValues.names.contains(entry.key) {
        report(
          entry.mark, "\(entry.key) looks like a value that the accessory sends: give the parameter another name")
      }
      let parameter = parameter(entry)
      values[entry.key] = ValueType(.number, unit: parameter?.unit, line: entry.mark.line)
      description.parameters.append(parameter ?? ProtocolDescription.Parameter(entry.key, 0...0))
    }
  }

  private mutating func parameter(_ entry: YAMLNode.Entry) -> ProtocolDescription.Parameter? {
    guard let fields = keys(entry.value, DescriptionKeys.parameter) else { return nil }
    for key in ["from", "to"] where fields[key] == nil {
      report(entry.mark, "\(key) is missing: the limits of \(entry.key), like {unit: V, from: 1, to: 500}")
    }
    let from = fields["from"].flatMap { decimal($0, "from") }
    let to = fields["to"].flatMap { decimal($0, "to") }
    guard let from, let to else { return nil }
    guard from <= to else {
      report(fields["to"]?.mark ?? entry.mark, "to is less than from, which is \(NumberText.text(from))")
      return nil
    }
    var parameter = ProtocolDescription.Parameter(entry.key, from...to)
    set(&parameter.summary, text(fields, "summary"))
    parameter.unit = text(fields, "unit")
    if let node = fields["default"] { parameter.defaultValue = decimal(node, "default", from...to) }
    return parameter
  }

  /// Reads a number with or without a fraction.
  mutating func decimal(_ node: YAMLNode, _ what: String, _ range: ClosedRange<Double>? = nil) -> Double? {
    if case .scalar(let text) = node.content, !text.contains("/"), let number = Self.fraction(text)?.value,
      range?.contains(number) ?? true
    {
      return number
    }
    let bounds =
      range.map { " from \(NumberText.text($0.lowerBound)) to \(NumberText.text($0.upperBound))" } ?? ", like 21.5"
    report(node.mark, "\(what) must be a number\(bounds), not \(kind(node))")
    return nil
  }

  /// Reads the parameters that an example sets.
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
