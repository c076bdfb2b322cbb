// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads what a request sends.
extension DescriptionReader {
  mutating func sends(
    _ node: YAMLNode, _ fields: KeyedNodes, _ arguments: [ProtocolDescription.Argument]
  ) -> ProtocolDescription.Contents {
    var unused = Set(arguments.map(\.name))
    let sends: ProtocolDescription.Contents
    if case .scalar(let name) = node.content, node.style == .plain, let framing = description.framing(named: name) {
      if description.framings[framing].direction == .fromDevice {
        report(node.mark, "frames of \(name) are never sent: its direction is from_device")
      }
      sends = frame(framing, node.mark, fields, arguments, &unused)
    } else {
      for key in ["with", "data"] {
        if let node = fields[key] {
          report(node.mark, "\(key) is only for requests that send a frame, and send names no framing")
        }
      }
      let bytes = sentBytes(node, arguments, &unused)
      if description.units != nil, !bytes.contains(where: { if case .unit = $0 { true } else { false } }) {
        report(node.mark, "the number of the unit is missing in these bytes: send: [..., {unit_number: u8}]")
      }
      sends = .bytes(bytes)
    }
    if let argument = arguments.first(where: { unused.contains($0.name) }), let node = fields["arguments"] {
      report(node.mark, "the argument \(argument.name) is not sent: data: [{argument: \(argument.name)}]")
    }
    return sends
  }

  /// Reads bytes without a framing. A word that is neither hexadecimal nor quoted is reported as an unknown framing.
  private mutating func sentBytes(
    _ node: YAMLNode, _ arguments: [ProtocolDescription.Argument], _ unused: inout Set<String>
  ) -> [ProtocolDescription.BodyPart] {
    if case .scalar(let text) = node.content, node.style == .plain,
      text.contains(where: { !$0.isHexDigit && $0 != " " })
    {
      let names = description.framings.map(\.name)
      guard problems.count < Self.problemLimit else { return [] }
      let advice = names.isEmpty ? "" : ": \(KnownKeys.advice(text, among: names))"
      report(
        node.mark,
        "send must be a framing's name, bytes in hexadecimal, or a text in quotes, not \(kind(node))\(advice)")
      return []
    }
    return parts(node, "send", arguments, &unused)
  }

  private mutating func frame(
    _ framing: Int, _ mark: YAMLMark, _ fields: KeyedNodes, _ arguments: [ProtocolDescription.Argument],
    _ unused: inout Set<String>
  ) -> ProtocolDescription.Contents {
    var numbers: [Int: Int] = [:]
    var body: [ProtocolDescription.BodyPart] = []
    var areKnown = true
    for entry in fields["with"].flatMap({ entries($0, "with", limit: 32) }) ?? [] {
      if isUnit(entry.key, entry.mark, "with") { continue }
      guard let place = numberElement(entry.key, entry.mark, of: framing) else {
        areKnown = false
        continue
      }
      if case .scalar(let text) = entry.value.content, text.hasPrefix("{"), text.hasSuffix("}") {
        let name = String(text.dropFirst().dropLast())
        guard let argument = argument(name, entry.value.mark, arguments, &unused) else { continue }
        let range = range(ofElement: place, of: framing)
        if !range.contains(argument.range.lowerBound) || !range.contains(argument.range.upperBound) {
          report(
            entry.value.mark,
            "\(entry.key) allows \(range.lowerBound) to \(range.upperBound), and the argument \(name) allows "
              + "\(argument.range.lowerBound) to \(argument.range.upperBound)")
        }
        numbers[place] = 0
        body.append(.element(place, argument: name))
      } else {
        numbers[place] = integer(entry.value, entry.key, range(ofElement: place, of: framing))
      }
    }
    var given = Set((fields["with"].flatMap { mapping($0) } ?? []).map(\.key))
    if let units = description.units { given.insert(units.element) }
    let missing = elements(of: framing).filter { element in
      if case .number = element.kind { !given.contains(element.name) } else { false }
    }
    // Reported only if all names are known, because a misspelt name is probably one of the missing ones.
    if let first = missing.first, areKnown, !brokenFramings.contains(framing) {
      let names = missing.map(\.name).joined(separator: ", ")
      report(fields["with"]?.mark ?? mark, "with lacks \(names): with: {\(first.name): 0}")
    }
    for case .element(let place, _) in body { numbers[place] = nil }
    if let data = fields["data"] { body += parts(data, "data", arguments, &unused) }
    let count = size(body, arguments)
    body += padding(framing, count, fields["data"]?.mark ?? mark)
    return .frame(framing: framing, elements: numbers, body: body)
  }

  private func mapping(_ node: YAMLNode) -> [YAMLNode.Entry]? {
    if case .mapping(let entries) = node.content { entries } else { nil }
  }

  /// Zeros for a body of a fixed size without data. Reports a body of the wrong size.
  private mutating func padding(_ framing: Int, _ count: Int, _ mark: YAMLMark) -> [ProtocolDescription.BodyPart] {
    if case .pairs = description.framings[framing].form {
      report(mark, "frames of \(description.framings[framing].name) can't be sent")
      return []
    }
    if case .window(let pattern, _) = description.framings[framing].form, count != pattern.count {
      report(
        mark, "data has \(Amount.bytes(pattern.count)) in frames of \(description.framings[framing].name), not \(count)"
      )
      return []
    }
    for element in elements(of: framing) {
      guard case .body(let fixed) = element.kind else { continue }
      if let fixed, count == 0 { return [.bytes([UInt8](repeating: 0, count: fixed))] }
      if let fixed, count != fixed {
        report(mark, "data has \(Amount.bytes(fixed)) in frames of \(description.framings[framing].name), not \(count)")
      }
    }
    let rest = elements(of: framing).reduce(0) { $0 + Self.size(of: $1) }
    if rest + count > description.framings[framing].limit {
      report(
        mark, "the frame has \(rest + count) bytes, more than max, which is \(description.framings[framing].limit)")
    }
    return []
  }

  /// The largest size of a body, in bytes.
  private func size(_ parts: [ProtocolDescription.BodyPart], _ arguments: [ProtocolDescription.Argument]) -> Int {
    parts.reduce(0) { sum, part in
      switch part {
      case .bytes(let bytes): return sum + bytes.count
      case .element: return sum
      case .unit(let format): return sum + format.byteCount
      case .parameter(_, let digits): return sum + digits
      case .argument(let name):
        guard let argument = arguments.first(where: { $0.name == name }) else { return sum }
        return sum
          + (argument.format?.byteCount
            ?? max("\(argument.range.lowerBound)".utf8.count, "\(argument.range.upperBound)".utf8.count))
      }
    }
  }

  /// Reads bytes and arguments: one run of bytes, or a list.
  private mutating func parts(
    _ node: YAMLNode, _ what: String, _ arguments: [ProtocolDescription.Argument], _ unused: inout Set<String>
  ) -> [ProtocolDescription.BodyPart] {
    var parts: [ProtocolDescription.BodyPart] = []
    for node in oneOrMore(node, "parts of \(what)", limit: 64) {
      if case .mapping(let entries) = node.content, entries.count == 1, entries[0].key == "argument" {
        guard case .scalar(let name) = entries[0].value.content else {
          report(entries[0].value.mark, "argument must be an argument's name, not \(kind(entries[0].value))")
          continue
        }
        if argument(name, entries[0].value.mark, arguments, &unused) != nil { parts.append(.argument(name)) }
      } else if case .mapping(let entries) = node.content, entries.count == 1, entries[0].key == "parameter" {
        if let part = parameter(entries[0].value) { parts.append(part) }
      } else if case .mapping(let entries) = node.content, entries.count == 1, entries[0].key == "unit_number" {
        if let format = unit(entries[0].value) { parts.append(.unit(format)) }
      } else if let bytes = run(node, what) {
        parts.append(.bytes(bytes))
      }
    }
    return parts
  }

  /// Reads the name of a parameter, which is sent in as many digits as its largest number has.
  private mutating func parameter(_ node: YAMLNode) -> ProtocolDescription.BodyPart? {
    guard let place = reference(node, "a parameter of this file", among: description.parameters.map(\.name)) else {
      return nil
    }
    let parameter = description.parameters[place]
    guard parameter.range.lowerBound >= 0, let most = Int(exactly: parameter.range.upperBound) else {
      report(node.mark, "\(parameter.name) can't be sent: only whole numbers from 0 can")
      return nil
    }
    return .parameter(parameter.name, digits: String(most).utf8.count)
  }

  private mutating func argument(
    _ name: String, _ mark: YAMLMark, _ arguments: [ProtocolDescription.Argument], _ unused: inout Set<String>
  ) -> ProtocolDescription.Argument? {
    guard let place = reference(name, mark, "an argument of this request", among: arguments.map(\.name)) else {
      return nil
    }
    unused.remove(name)
    return arguments[place]
  }

  /// Reads the type of the unit number among bytes.
  private mutating func unit(_ node: YAMLNode) -> ProtocolDescription.NumberFormat? {
    guard let format = number(node, "unit_number") else { return nil }
    guard let units = description.units else {
      report(node.mark, "unit_number needs units:, which is missing")
      return nil
    }
    guard let range = Self.range(of: format), range.contains(units.range.lowerBound + units.sentOffset),
      range.contains(units.range.upperBound + units.sentOffset)
    else {
      report(
        node.mark,
        "units are sent as \(units.range.lowerBound + units.sentOffset) to \(units.range.upperBound + units.sentOffset), which "
          + "don't fit in this type of number")
      return nil
    }
    return format
  }
}
