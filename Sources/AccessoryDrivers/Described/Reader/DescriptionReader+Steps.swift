// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Fields one after another.
extension DescriptionReader {
  /// Steps that one list can have.
  static let stepLimit = 255

  /// A list of fields and what may stand in place of them; `depth` groups are around it.
  mutating func steps(
    _ node: YAMLNode, _ what: String, _ scope: inout MessageScope, depth: Int
  ) -> [ProtocolDescription.Step] {
    guard let nodes = list(node, what, limit: Self.stepLimit) else { return [] }
    var steps: [ProtocolDescription.Step] = []
    var names: [String: Int] = [:]
    for (place, node) in nodes.enumerated() {
      guard let step = step(node, &scope, depth: depth) else { continue }
      if case .field(let field) = step, !field.isList || scope.groups > 0 {
        if let line = names.updateValue(node.mark.line, forKey: field.name) {
          report(
            node.mark, "the field \(field.name) was there already, in line \(line) (list: true makes a list of both)")
        }
      }
      if place < nodes.count - 1, let why = step.mustBeLast {
        report(node.mark, "\(why), so nothing can stand behind it")
      }
      steps.append(step)
    }
    return steps
  }

  private mutating func step(
    _ node: YAMLNode, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard case .mapping(let entries) = node.content else {
      report(node.mark, "a field is keys with values (name: …, type: …), not \(kind(node))")
      return nil
    }
    let kinds = ["skip", "group", "tail", "when"].filter { key in entries.contains { $0.key == key } }
    guard let kind = kinds.first else { return fieldStep(node, &scope, depth: depth) }
    let known = kind == "group" ? ["group", "repeat"] : kind == "when" ? ["when", "fields"] : [kind]
    guard let fields = fields(node, kind, known), let value = fields[kind] else { return nil }
    if kind == "skip" {
      return integer(value, "skip's count of bytes", 1...ProtocolDescription.Limit.frame).map { .skip($0) }
    }
    guard depth < ProtocolDescription.Limit.nesting else {
      report(node.mark, "more than \(ProtocolDescription.Limit.nesting) groups are within each other")
      return nil
    }
    switch kind {
    case "group": return group(value, fields["repeat"], &scope, depth: depth)
    case "tail": return .tail(steps(value, "a tail's fields", &scope, depth: depth + 1))
    default: return conditional(value, fields["fields"], &scope, depth: depth)
    }
  }

  private mutating func group(
    _ node: YAMLNode, _ times: YAMLNode?, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let times else {
      report(node.mark, "repeat is missing beside group: how often it is there")
      return nil
    }
    // What says how often stands in front of the group.
    let count = repetitions(times, scope)
    scope.groups += 1
    let steps = steps(node, "a group's fields", &scope, depth: depth + 1)
    scope.groups -= 1
    guard let count else { return nil }
    takesBytes(steps, count, times.mark)
    return .group(steps, count)
  }

  /// What is there up to the end, or up to a count of bytes, must get there.
  private mutating func takesBytes(
    _ steps: [ProtocolDescription.Step], _ times: ProtocolDescription.Times, _ mark: YAMLMark
  ) {
    guard times == .toEnd || times == .prefixedBytes, !steps.isEmpty, steps.leastBytes == 0 else { return }
    report(mark, "what is repeated up to the end must take bytes, and this may take none")
  }

  private mutating func conditional(
    _ node: YAMLNode, _ fields: YAMLNode?, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let fields else {
      report(node.mark, "fields are missing beside when")
      return nil
    }
    guard case .mapping(let entries) = node.content, entries.count == 1, let entry = entries.first else {
      report(node.mark, "when names one field, and what it must be at least: {count: 3}, not \(kind(node))")
      return nil
    }
    let field = counter(entry.key, entry.mark, "when", scope)
    let least = integer(entry.value, "what \(entry.key) must be at least", Self.widest)
    let steps = steps(fields, "fields", &scope, depth: depth + 1)
    guard let field, let least else { return nil }
    return .when(field: field, atLeast: least, steps)
  }

  private mutating func fieldStep(
    _ node: YAMLNode, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let fields = fields(node, "a field", DescriptionKeys.field) else { return nil }
    let times = fields["repeat"].flatMap { repetitions($0, scope) }
    guard let field = field(fields, node.mark, .bytes, &scope) else { return nil }
    guard let node = fields["repeat"] else { return .field(field) }
    guard depth < ProtocolDescription.Limit.nesting else {
      report(node.mark, "more than \(ProtocolDescription.Limit.nesting) groups are within each other")
      return nil
    }
    guard let times else { return nil }
    if field.bits?.staysHere == true { report(node.mark, "what stays in its place can't be repeated") }
    takesBytes([.field(field)], times, node.mark)
    return .group([.field(field)], times)
  }

  /// How often something is there.
  private mutating func repetitions(_ node: YAMLNode, _ scope: MessageScope) -> ProtocolDescription.Times? {
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "repeat is a count, a field's name, end or prefixed, not \(kind(node))")
      return nil
    }
    if text == "end" { return .toEnd }
    if text == "prefixed" { return .prefixedBytes }
    if text.utf8.first.map({ (0x30...0x39).contains($0) }) == true || text.hasPrefix("-"),
      !scope.fields.contains(text)
    {
      return integer(node, "repeat", 1...ProtocolDescription.Limit.repetitions).map { .fixed($0) }
    }
    return counter(text, node.mark, "repeat", scope).map { .field($0) }
  }

  /// A field that was read before and is a whole number.
  private mutating func counter(
    _ name: String, _ mark: YAMLMark, _ what: String, _ scope: MessageScope
  ) -> String? {
    guard reference(name, mark, "a field in front of this", among: scope.fields) != nil else { return nil }
    guard scope.counting.contains(name) else {
      report(mark, "\(what): \(name) is no whole number")
      return nil
    }
    return name
  }
}

extension ProtocolDescription.Step {
  /// Why nothing can stand behind this; nil where something can.
  fileprivate var mustBeLast: String? {
    switch self {
    case .field(let field):
      if case .restOfText = field.type { "a text without bytes goes to the end" } else { nil }
    case .group(_, .toEnd): "what is repeated to the end goes there"
    case .tail: "a tail goes to the end"
    default: nil
    }
  }
}
