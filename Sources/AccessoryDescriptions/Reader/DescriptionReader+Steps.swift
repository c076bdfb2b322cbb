// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads sequences of fields.
extension DescriptionReader {
  /// The most steps in one list.
  static let stepLimit = 255

  /// Reads a list of steps: fields, `skip`, `group`, `tail` and `at_least`. `depth` is the number of enclosing groups.
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
            node.mark, "the field \(field.name) is already defined in line \(line) (list: true makes a list of both)")
        }
      }
      if place < nodes.count - 1, let why = step.mustBeLast {
        report(node.mark, "\(why), so nothing can follow")
      }
      steps.append(step)
    }
    return steps
  }

  private mutating func step(
    _ node: YAMLNode, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard case .mapping(let entries) = node.content else {
      report(node.mark, "a field must be keys with values (name: …, type: …), not \(kind(node))")
      return nil
    }
    let kinds = ["skip", "group", "tail", "at_least", "below"].filter { key in entries.contains { $0.key == key } }
    guard let kind = kinds.first else { return fieldStep(node, &scope, depth: depth) }
    let known =
      switch kind {
      case "group": ["group", "repeat"]
      case "at_least", "below": [kind, "fields"]
      default: [kind]
      }
    guard let fields = fields(node, kind, known), let value = fields[kind] else { return nil }
    if kind == "skip" {
      return integer(value, "skip's count of bytes", 1...ProtocolDescription.Limit.frame).map { .skip($0) }
    }
    guard depth < ProtocolDescription.Limit.nesting else {
      report(node.mark, "groups are nested more than \(ProtocolDescription.Limit.nesting) deep")
      return nil
    }
    switch kind {
    case "group": return group(value, fields["repeat"], &scope, depth: depth)
    case "tail": return .tail(steps(value, "a tail's fields", &scope, depth: depth + 1))
    default: return conditional(kind, value, fields["fields"], &scope, depth: depth)
    }
  }

  private mutating func group(
    _ node: YAMLNode, _ times: YAMLNode?, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let times else {
      report(node.mark, "repeat is missing for group: how often the group is repeated")
      return nil
    }
    // The count is read first, because it must come from a field before the group.
    let count = repetitions(times, scope)
    scope.groups += 1
    let steps = steps(node, "a group's fields", &scope, depth: depth + 1)
    scope.groups -= 1
    guard let count else { return nil }
    takesBytes(steps, count, times.mark)
    return .group(steps, count)
  }

  /// Reports a repetition up to the end, or up to a count of bytes, that may take no bytes: it would never end.
  private mutating func takesBytes(
    _ steps: [ProtocolDescription.Step], _ times: ProtocolDescription.Times, _ mark: YAMLMark
  ) {
    guard times == .toEnd || times == .prefixedBytes, !steps.isEmpty, steps.leastBytes == 0 else { return }
    report(mark, "fields that are repeated up to the end must take bytes, and these may take none")
  }

  private mutating func conditional(
    _ kind: String, _ node: YAMLNode, _ fields: YAMLNode?, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let fields else {
      report(node.mark, "fields are missing for \(kind)")
      return nil
    }
    guard case .mapping(let entries) = node.content, entries.count == 1, let entry = entries.first else {
      report(node.mark, "\(kind) must name one field and a number: {count: 3}, not \(self.kind(node))")
      return nil
    }
    // A version of the accessory is often in a message that it sends once.
    let isElsewhere = !scope.fields.contains(entry.key) && values[entry.key]?.hasRawNumber == true
    let field = isElsewhere ? entry.key : counter(entry.key, entry.mark, kind, scope)
    let limit = integer(entry.value, "the limit of \(entry.key)", Self.widest)
    let steps = steps(fields, "fields", &scope, depth: depth + 1)
    guard let field, let limit else { return nil }
    guard kind == "at_least" || limit > Self.widest.lowerBound else {
      report(entry.value.mark, "no number is below this")
      return nil
    }
    let numbers = kind == "at_least" ? limit...Self.widest.upperBound : Self.widest.lowerBound...(limit - 1)
    var condition = ProtocolDescription.Step.Condition(field, numbers)
    condition.isElsewhere = isElsewhere
    return .when(condition, steps)
  }

  private mutating func fieldStep(
    _ node: YAMLNode, _ scope: inout MessageScope, depth: Int
  ) -> ProtocolDescription.Step? {
    guard let fields = keys(node, DescriptionKeys.field) else { return nil }
    let times = fields["repeat"].flatMap { repetitions($0, scope) }
    guard let field = field(fields, node.mark, .bytes, &scope) else { return nil }
    guard let node = fields["repeat"] else { return .field(field) }
    guard depth < ProtocolDescription.Limit.nesting else {
      report(node.mark, "groups are nested more than \(ProtocolDescription.Limit.nesting) deep")
      return nil
    }
    guard let times else { return nil }
    if field.bits?.staysHere == true { report(node.mark, "a field with stay can't be repeated") }
    takesBytes([.field(field)], times, node.mark)
    return .group([.field(field)], times)
  }

  /// Reads a number of repetitions.
  private mutating func repetitions(_ node: YAMLNode, _ scope: MessageScope) -> ProtocolDescription.Times? {
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "repeat must be a count, a field's name, end or prefixed, not \(kind(node))")
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

  /// Reads the name of an earlier field that is a whole number.
  private mutating func counter(
    _ name: String, _ mark: YAMLMark, _ what: String, _ scope: MessageScope
  ) -> String? {
    guard reference(name, mark, "a field in front of this", among: scope.fields) != nil else { return nil }
    guard scope.counting.contains(name) else {
      report(mark, "\(what): \(name) is not a whole number")
      return nil
    }
    return name
  }
}

extension ProtocolDescription.Step {
  /// Why no step can follow this one; nil when one can.
  fileprivate var mustBeLast: String? {
    switch self {
    case .field(let field):
      if case .restOfText = field.type { "a text without a number of bytes takes all bytes to the end" } else { nil }
    case .group(_, .toEnd): "fields that are repeated to the end take all bytes"
    case .tail: "a tail takes all bytes to the end"
    default: nil
    }
  }
}
