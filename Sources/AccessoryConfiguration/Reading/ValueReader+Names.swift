// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Reads names, and references to names.
extension ValueReader {
  /// Reads a name that is also valid in file names, MQTT topics and command lines.
  package mutating func plainName(_ node: YAMLNode, _ what: String) -> String? {
    guard let name = text(node, what, limit: 64) else { return nil }
    guard isPlain(name) else {
      report(
        node.mark,
        "\(what) must consist of small letters a to z, digits and, after the first character, -, _ or ., not "
          + "\(Quoted.text(name))"
      )
      return nil
    }
    return name
  }

  /// Checks a name that is a key.
  package mutating func isPlainName(_ entry: YAMLNode.Entry, _ what: String) -> Bool {
    plainName(YAMLNode(content: .scalar(entry.key), mark: entry.mark), what) != nil
  }

  private func isPlain(_ name: String) -> Bool {
    name.utf8.allSatisfy { $0.isSmallLetterOrDigit(or: "-_.") }
      && name.utf8.first.map { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") } == true
  }

  /// Resolves a reference to a name in the text, such as "a message of this file". Returns its index in `known`.
  package mutating func reference(_ node: YAMLNode, _ what: String, among known: [String]) -> Int? {
    guard case .scalar(let name) = node.content, !name.isEmpty else {
      report(node.mark, "the name of \(what) was expected, not \(kind(node))")
      return nil
    }
    return reference(name, node.mark, what, among: known)
  }

  /// Resolves a reference that isn't a YAML node of its own.
  package mutating func reference(_ name: String, _ mark: YAMLMark, _ what: String, among known: [String]) -> Int? {
    if let place = known.firstIndex(of: name) { return place }
    guard problems.count < Self.problemLimit else { return nil }
    let advice = known.isEmpty ? "there is none" : KnownKeys.advice(name, among: known)
    report(mark, "\(Quoted.text(name)) is not \(what): \(advice)")
    return nil
  }

  /// Reads a mapping whose keys are free.
  package mutating func entries(_ node: YAMLNode, _ what: String, limit: Int) -> [YAMLNode.Entry]? {
    guard case .mapping(let entries) = node.content else {
      report(node.mark, "\(what) must be names with values, not \(kind(node))")
      return nil
    }
    guard (1...limit).contains(entries.count) else {
      report(node.mark, "\(what) must have 1 to \(limit) entries, not \(entries.count)")
      return nil
    }
    return entries
  }

  /// Reads a list, or a single value in place of a list.
  package mutating func oneOrMore(_ node: YAMLNode, _ what: String, limit: Int) -> [YAMLNode] {
    guard case .sequence = node.content else { return [node] }
    return list(node, what, limit: limit) ?? []
  }
}
