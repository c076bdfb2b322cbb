// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads examples: frames and exchanges, with the values that they must give.
extension DescriptionReader {
  mutating func examples(_ node: YAMLNode) {
    for node in list(node, "examples", limit: 256) ?? [] {
      if let example = example(node) { description.examples.append(example) }
    }
  }

  private mutating func example(_ node: YAMLNode) -> ProtocolDescription.Example? {
    guard let fields = keys(node, DescriptionKeys.example) else { return nil }
    var example = ProtocolDescription.Example(received: [])
    example.line = node.mark.line
    if let request = fields["request"] { self.request(request, &example) }
    if let node = fields["unit_number"] { example.unit = unit(of: node) }
    example.sent = bytes(fields, "sent")
    set(&example.received, bytes(fields, "received"))
    if let node = fields["given"] { example.given = given(node) }
    if let node = fields["parameters"] { example.parameters = exampleParameters(node) }
    if let node = fields["expect"] { example.expected = expectations(node) }
    set(&example.isRefused, flag(fields, "refused"))
    set(&example.isWrite, flag(fields, "write"))
    check(example, fields, node.mark)
    return example
  }

  /// Reports an example without bytes, and keys that contradict each other.
  private mutating func check(
    _ example: ProtocolDescription.Example, _ fields: KeyedNodes, _ mark: YAMLMark
  ) {
    if fields["received"] == nil, fields["sent"] == nil {
      report(mark, "an example needs received, or sent, or both")
    }
    if fields["sent"] != nil, fields["request"] == nil, fields["write"] == nil {
      report(
        mark, "an example with sent needs the request that sends it, or write: true for bytes that must not be sent")
    }
    if let request = example.request, fields["write"] != nil,
      example.isWrite != description.requests[request].isWrite, let node = fields["write"]
    {
      report(node.mark, "the request \(description.requests[request].name) has another value of write")
    }
    if example.isRefused, let node = fields["expect"] {
      report(node.mark, "nothing is read from a refused frame: expect and refused: true exclude each other")
    }
    for key in ["expect", "refused", "given", "parameters"] where fields["received"] == nil {
      if let node = fields[key] { report(node.mark, "\(key) needs received, which is missing") }
    }
  }

  /// Reads the request of an example: a name, as in "basic", or a name with arguments, as in {basic: {argument: 3}}.
  private mutating func request(_ node: YAMLNode, _ example: inout ProtocolDescription.Example) {
    let names = description.requests.map(\.name)
    guard case .mapping(let entries) = node.content, entries.count == 1, let entry = entries.first else {
      guard let place = reference(node, "a request of this file", among: names) else { return }
      example.request = place
      complete(example, node.mark)
      return
    }
    guard let place = reference(entry.key, entry.mark, "a request of this file", among: names) else { return }
    example.request = place
    let known = description.requests[place].arguments
    for entry in self.entries(entry.value, "arguments", limit: 16) ?? [] {
      guard let place = reference(entry.key, entry.mark, "an argument of this request", among: known.map(\.name)) else {
        continue
      }
      if case .scalar(let word) = entry.value.content, let number = known[place].words[word] {
        example.arguments[entry.key] = number
      } else {
        example.arguments[entry.key] = integer(entry.value, entry.key, known[place].range)
      }
    }
    complete(example, node.mark)
  }

  /// Reports missing arguments.
  private mutating func complete(_ example: ProtocolDescription.Example, _ mark: YAMLMark) {
    guard let request = example.request else { return }
    for argument in description.requests[request].arguments
    where argument.defaultValue == nil && example.arguments[argument.name] == nil {
      report(
        mark,
        "the argument \(argument.name) is missing: request: {\(description.requests[request].name): {\(argument.name): \(argument.range.lowerBound)}}"
      )
    }
  }

  private mutating func unit(of node: YAMLNode) -> Int? {
    guard let units = description.units else {
      report(node.mark, "unit_number needs units:, which is missing")
      return nil
    }
    return integer(node, "unit_number", units.range)
  }

  private mutating func given(_ node: YAMLNode) -> [String: Int] {
    var given: [String: Int] = [:]
    for entry in entries(node, "given", limit: 16) ?? [] {
      value(entry.key, entry.mark, "given", \.hasRawNumber, "a whole number")
      given[entry.key] = integer(entry.value, entry.key, Self.widest)
    }
    return given
  }
}
