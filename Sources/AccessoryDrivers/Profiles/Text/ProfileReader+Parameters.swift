// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDescriptions
import AccessoryProtocols

// Reads the values of a described protocol's parameters: numbers that the accessory doesn't report.
extension ProfileReader {
  mutating func parameters(_ node: YAMLNode, of profile: Profile) -> [String: Double] {
    // Errors in the protocol were reported at its own place.
    guard let name = profile.driver else {
      if problems.isEmpty { report(node.mark, "parameters need a described protocol, and protocol is missing") }
      return [:]
    }
    guard let described = profile.described ?? protocols.described(name), !described.description.parameters.isEmpty
    else {
      report(node.mark, "\(name) has no parameters")
      return [:]
    }
    let known = described.description.parameters
    var numbers: [String: Double] = [:]
    for entry in entries(node, "parameters", limit: 16) ?? [] {
      guard let place = reference(entry.key, entry.mark, "a parameter of \(name)", among: known.map(\.name)) else {
        continue
      }
      numbers[entry.key] = number(entry.value, known[place])
    }
    for (empty, full) in described.description.setting(numbers).contradictions {
      report(node.mark, "\(empty) is not less than \(full)")
    }
    return numbers
  }

  /// Reads a number, with or without its unit.
  private mutating func number(_ node: YAMLNode, _ parameter: ProtocolDescription.Parameter) -> Double? {
    if case .scalar(let whole) = node.content {
      var text = whole
      if let unit = parameter.unit, text.hasSuffix(unit) {
        text = String(text.dropLast(unit.count))
        while text.hasSuffix(" ") { text.removeLast() }
      }
      if let number = DescriptionReader.fraction(text), !text.contains("/"), parameter.range.contains(number.value) {
        return number.value
      }
    }
    let unit = parameter.unit.map { " \($0)" } ?? ""
    let (least, most) = (parameter.range.lowerBound, parameter.range.upperBound)
    report(
      node.mark,
      "\(parameter.name) must be a number from \(NumberText.text(least)) to \(NumberText.text(most))\(unit), not "
        + "\(kind(node))"
    )
    return nil
  }
}
