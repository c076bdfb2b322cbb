// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads the body of a message.
extension DescriptionReader {
  private static let bodies = ["fields", "tags", "pairs", "columns", "table", "pattern"]
  /// Keys that are valid only with some kinds of bodies.
  private static let companions = [
    ("types", ["pattern"]), ("separation", ["columns"]), ("line_end", ["pairs", "table"]), ("separator", ["pairs"]),
  ]

  mutating func body(
    _ fields: KeyedNodes, _ mark: YAMLMark, _ scope: inout MessageScope
  ) -> ProtocolDescription.Body {
    let said = Self.bodies.filter { fields[$0] != nil }
    for (key, bodies) in Self.companions where bodies.allSatisfy({ fields[$0] == nil }) {
      if let node = fields[key] { report(node.mark, "\(key) needs \(NameWords.list(bodies, "or")), which is missing") }
    }
    guard said.count <= 1 else {
      report(mark, "a message must have one of \(NameWords.list(Self.bodies, "or")), not several")
      return .nothing
    }
    guard let key = said.first, let node = fields[key] else { return .nothing }
    let pairsFraming = pairs(of: scope.framing)
    if pairsFraming != nil, key != "pairs", !brokenFramings.contains(scope.framing) {
      report(node.mark, "frames of \(description.framings[scope.framing].name) are pairs, and can't have \(key)")
      return .nothing
    }
    switch key {
    case "fields": return .fields(wholeBody(node, &scope))
    case "tags": return tags(node, &scope)
    case "pairs": return pairs(node, fields, pairsFraming, &scope)
    case "table": return table(node, fields, &scope)
    case "columns": return columns(node, fields["separation"], &scope)
    default: return pattern(node, fields["types"], &scope)
    }
  }

  /// The parameters of a framing that consists of pairs; nil for any other framing.
  private func pairs(of framing: Int) -> ProtocolDescription.Pairs? {
    if case .pairs(let pairs) = description.framings[framing].form { pairs } else { nil }
  }

  private mutating func wholeBody(_ node: YAMLNode, _ scope: inout MessageScope) -> [ProtocolDescription.Step] {
    let steps = steps(node, "fields", &scope, depth: 0)
    checkSize(steps, node.mark, bodyLimit(scope))
    return steps
  }

  /// The size of a message's body: the largest among the message's framings.
  private func bodyLimit(_ scope: MessageScope) -> (count: Int, isFixed: Bool) {
    let limits = ([scope.framing] + scope.otherFramings).map { bodyLimit($0) }
    return limits.max { $0.count < $1.count } ?? (0, false)
  }

  /// The size of a framing's body in bytes: the largest, and whether it is fixed.
  private func bodyLimit(_ framing: Int) -> (count: Int, isFixed: Bool) {
    if case .window(let pattern, _) = description.framings[framing].form { return (pattern.count, true) }
    for element in elements(of: framing) {
      if case .body(let count?) = element.kind { return (count, true) }
    }
    return (description.framings[framing].limit, false)
  }

  /// Reports steps that need more bytes than the body can have, or that have too many values.
  mutating func checkSize(
    _ steps: [ProtocolDescription.Step], _ mark: YAMLMark, _ limit: (count: Int, isFixed: Bool)
  ) {
    let least = steps.leastBytes
    if least > limit.count {
      let room = limit.isFixed ? "there are \(limit.count)" : "a frame has at most \(limit.count)"
      report(mark, "these fields take at least \(Amount.bytes(least)), and \(room)")
    }
    let values = steps.leastValues
    if values > ProtocolDescription.Limit.values {
      report(mark, "these fields are \(values) values, more than \(ProtocolDescription.Limit.values)")
    }
  }

  private mutating func tags(_ node: YAMLNode, _ scope: inout MessageScope) -> ProtocolDescription.Body {
    var tags: [UInt8: [ProtocolDescription.Step]] = [:]
    for entry in entries(node, "tags", limit: 256) ?? [] {
      guard let tag = integer(entry, "a tag", 0...255).flatMap(UInt8.init(exactly:)) else { continue }
      guard tags[tag] == nil else {
        report(entry.mark, "the tag \(tag) is given twice")
        continue
      }
      let steps = steps(entry.value, "a tag's fields", &scope, depth: 0)
      checkSize(steps, entry.value.mark, bodyLimit(scope))
      tags[tag] = steps
    }
    return .tags(tags)
  }

  private mutating func pairs(
    _ node: YAMLNode, _ fields: KeyedNodes, _ framing: ProtocolDescription.Pairs?, _ scope: inout MessageScope
  ) -> ProtocolDescription.Body {
    var lineEnd: [UInt8]? = nil
    var separator = framing.map { [$0.separator] } ?? [UInt8(ascii: ":")]
    if framing != nil {
      for key in ["line_end", "separator"] {
        if let node = fields[key] { report(node.mark, "\(key) is already set by the framing: leave it out here") }
      }
    } else {
      if fields["line_end"] == nil, !brokenFramings.contains(scope.framing) {
        report(node.mark, "line_end is missing: what ends a line, like line_end: \"\\r\\n\"")
      }
      lineEnd = bytes(fields, "line_end")
      set(&separator, bytes(fields, "separator"))
    }
    var values: [String: ProtocolDescription.Field] = [:]
    for entry in entries(node, "pairs", limit: 256) ?? [] {
      let node = YAMLNode(content: .scalar(entry.key), mark: entry.mark)
      guard let label = label(node, "a label", mayHaveBlanks: framing == nil) else { continue }
      if label == framing?.close {
        report(entry.mark, "the label \(entry.key) closes the frame, so it can't have a value")
      }
      values[entry.key] = textField(entry.value, &scope)
    }
    return .pairs(ProtocolDescription.PairsBody(lineEnd: lineEnd, separator: separator, fields: values))
  }

  /// Reads a field in text, which has one value.
  private mutating func textField(_ node: YAMLNode, _ scope: inout MessageScope) -> ProtocolDescription.Field? {
    guard let fields = keys(node, DescriptionKeys.field) else { return nil }
    return field(fields, node.mark, .text, &scope)
  }

  /// Reads the columns of a table by their headings. Each column is a list with one value for each line.
  private mutating func table(
    _ node: YAMLNode, _ message: KeyedNodes, _ scope: inout MessageScope
  ) -> ProtocolDescription.Body {
    var table = ProtocolDescription.Table(lineEnd: [UInt8(ascii: "\n")], columns: [])
    set(&table.lineEnd, bytes(message, "line_end"))
    scope.groups += 1
    defer { scope.groups -= 1 }
    for entry in entries(node, "columns of the table", limit: 64) ?? [] {
      let head = YAMLNode(content: .scalar(entry.key), mark: entry.mark)
      guard label(head, "a head") != nil,
        let fields = keys(entry.value, DescriptionKeys.tableColumn)
      else { continue }
      guard let field = field(fields, entry.value.mark, .text, &scope) else { continue }
      if !field.flags.isEmpty, let node = fields["flags"] {
        report(node.mark, "a column of a table has one value in each line, so it can't have flags")
      }
      table.columns.append(.init(entry.key, isOptional: flag(fields, "may_be_missing") ?? false, field))
    }
    return .table(table)
  }

  private mutating func columns(
    _ node: YAMLNode, _ separation: YAMLNode?, _ scope: inout MessageScope
  ) -> ProtocolDescription.Body {
    var how = ProtocolDescription.Columns.Separation.blanks
    if let separation, separation.content != .scalar("blanks") {
      set(&how, byte(separation, "separation (or blanks)").map { .byte($0) })
    }
    let nodes = list(node, "columns", limit: ProtocolDescription.Limit.repetitions) ?? []
    if separation == nil, nodes.contains(where: { $0.hasKey("at") }) { how = .places }
    var columns: [ProtocolDescription.Column] = []
    for node in nodes {
      if let column = column(node, how, behind: columns.last, &scope) { columns.append(column) }
    }
    return .columns(ProtocolDescription.Columns(how, columns))
  }

  private mutating func column(
    _ node: YAMLNode, _ how: ProtocolDescription.Columns.Separation, behind last: ProtocolDescription.Column?,
    _ scope: inout MessageScope
  ) -> ProtocolDescription.Column? {
    guard let fields = keys(node, DescriptionKeys.column),
      let field = field(fields, node.mark, .text, &scope)
    else { return nil }
    var column = ProtocolDescription.Column(last.map { $0.place + 1 } ?? 0, field)
    set(&column.isOptional, flag(fields, "may_be_missing"))
    if how == .places {
      guard let at = fields["at"] else {
        report(
          node.mark, "at is missing, which other columns have: the first and the last of its characters, like at: 0..4")
        return nil
      }
      guard let characters = characters(at) else { return nil }
      (column.place, column.count) = (characters.lowerBound, characters.count)
      if let node = fields["column"] { report(node.mark, "column is only for columns that blanks or a byte separate") }
    } else {
      set(&column.place, number(fields, "column"))
      if let node = fields["at"] { report(node.mark, "at is only for columns without separation") }
    }
    return column
  }

  /// Reads the characters of a column, counted from 0: "16..25".
  private mutating func characters(_ node: YAMLNode) -> ClosedRange<Int>? {
    if case .scalar(let text) = node.content, let range = Self.range(text),
      range.upperBound <= ProtocolDescription.Limit.frame, range.count <= ProtocolDescription.Limit.text
    {
      return range
    }
    report(
      node.mark,
      "at must be the first and the last of its characters, counted from 0, like 16..25, and at most "
        + "\(ProtocolDescription.Limit.text) of them, not \(kind(node))")
    return nil
  }
}

extension YAMLNode {
  fileprivate func hasKey(_ key: String) -> Bool {
    if case .mapping(let entries) = content { entries.contains { $0.key == key } } else { false }
  }
}
