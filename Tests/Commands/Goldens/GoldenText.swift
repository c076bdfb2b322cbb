// SPDX-License-Identifier: Apache-2.0

/// Answers as the lines of a golden, without what their forms say already. `answers(in:)` gives all of them back, so the lines check
/// each character.
///
/// An object is a line: its name, and each key that isn't as usual (`key=VALUE`), or that is missing (`-key`). The objects in it follow
/// with one blank more; one of a list has a star before its name. What was asked twice says the second time how many lines are as at
/// the first time (`= 12`), and how many are not there (`- 1`).
struct GoldenText: Sendable {
  let forms: GoldenForms

  // MARK: - Writing

  /// The lines of answers, each of which begins with its question.
  func lines(of answers: [(question: String, answer: String)]) -> [String] {
    var known: [String: [String]] = [:]
    return answers.flatMap { question, answer in
      var lines = lines(of: answer, to: question)
      if let before = known.updateValue(lines, forKey: question) { lines = Self.difference(lines, from: before) }
      return ["$ \(question)"] + lines
    }
  }

  private func lines(of answer: String, to question: String) -> [String] {
    let parts = answer.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let document = GoldenJSON(parts[0]), case .object(let fields) = document, isPlain(document) else {
      return question.contains("metrics") ? withoutHeads(parts) : parts
    }
    return lines(of: fields, as: ".", GoldenForms.name(of: question), indent: "") + parts.dropFirst()
  }

  private func lines(of fields: [GoldenJSON.Field], as label: String, _ form: String, indent: String) -> [String] {
    var (line, children) = (indent + label, [String]())
    let values = Dictionary(uniqueKeysWithValues: fields.map { ($0.key, $0.value) })
    for key in Set(values.keys).union((forms.objects[form] ?? [:]).keys).sorted() {
      let usual = forms.usual(key, of: form)
      guard let value = values[key] else {
        if usual != nil { line += " -\(key)" }
        continue
      }
      if value == usual { continue }
      let name = GoldenForms.name(key, in: form)
      if case .object(let fields) = value, !fields.isEmpty {
        children += lines(of: fields, as: key, name, indent: indent + " ")
      } else if let elements = value.objects {
        for fields in elements { children += lines(of: fields, as: "*\(key)", name, indent: indent + " ") }
      } else {
        line += " \(key)=\(value.text)"
      }
    }
    return [line] + children
  }

  /// Whether the keys of all objects can stand in a line, and are in order.
  private func isPlain(_ value: GoldenJSON) -> Bool {
    switch value {
    case .leaf: true
    case .list(let elements): elements.allSatisfy(isPlain)
    case .object(let fields):
      zip(fields, fields.dropFirst()).allSatisfy { $0.key < $1.key }
        && fields.allSatisfy { field in
          !field.key.isEmpty && field.key.utf8.allSatisfy { $0 > 0x2D && $0 < 0x7F && $0 != UInt8(ascii: "=") }
            && isPlain(field.value)
        }
    }
  }

  private static func difference(_ lines: [String], from before: [String]) -> [String] {
    let changes = lines.difference(from: before)
    var (removed, inserted) = (Set<Int>(), Set<Int>())
    for change in changes {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var result: [String] = []
    var (old, new) = (0, 0)
    while old < before.count || new < lines.count {
      let begin = (old, new)
      while old < before.count, removed.contains(old) { old += 1 }
      if old > begin.0 { result.append("- \(old - begin.0)") }
      while new < lines.count, inserted.contains(new) {
        result.append("+ \(lines[new])")
        new += 1
      }
      let same = old
      while old < before.count, !removed.contains(old), !inserted.contains(new) { (old, new) = (old + 1, new + 1) }
      if old > same { result.append("= \(old - same)") }
    }
    return result
  }

  /// The samples, and what stands above them where it isn't as the forms say.
  private func withoutHeads(_ lines: [String]) -> [String] {
    var result: [String] = []
    var family = ""
    for line in lines {
      if !line.hasPrefix("#"), Self.family(of: line) != family {
        family = Self.family(of: line)
        let head = forms.metrics[family] ?? []
        if !head.isEmpty, result.suffix(head.count) == head[...] {
          result.removeLast(head.count)
        } else {
          // No head is to be added here.
          result.append("!")
        }
      }
      result.append(line)
    }
    return result
  }

  private static func family(of sample: String) -> String { String(sample.prefix { $0 != "{" && $0 != " " }) }

  // MARK: - Reading

  /// The answers of which these are the lines.
  func answers(in lines: [some StringProtocol]) -> [(question: String, answer: String)] {
    var (answers, known) = ([(question: String, answer: String)](), [String: [String]]())
    var rest = lines.map { String($0) }[...]
    while let question = rest.popFirst()?.dropFirst(2) {
      var own = Array(rest.prefix { !$0.hasPrefix("$ ") })
      rest = rest.dropFirst(own.count)
      if let before = known[String(question)] { own = Self.applied(own, to: before) }
      known[String(question)] = own
      answers.append((String(question), answer(in: own, to: String(question))))
    }
    return answers
  }

  private static func applied(_ changes: [String], to before: [String]) -> [String] {
    var (result, rest) = ([String](), before[...])
    for change in changes {
      switch change.first {
      case "=":
        let count = Int(change.dropFirst(2)) ?? 0
        result += rest.prefix(count)
        rest = rest.dropFirst(count)
      case "-": rest = rest.dropFirst(Int(change.dropFirst(2)) ?? 0)
      default: result.append(String(change.dropFirst(2)))
      }
    }
    return result
  }

  private func answer(in lines: [String], to question: String) -> String {
    guard let first = lines.first, first == "." || first.hasPrefix(". ") else {
      return (question.contains("metrics") ? withHeads(lines) : lines).joined(separator: "\n")
    }
    var rest = lines[...]
    let document = object(&rest, GoldenForms.name(of: question), indent: 0)
    return ([document.text] + rest).joined(separator: "\n")
  }

  private func object(_ lines: inout ArraySlice<String>, _ form: String, indent: Int) -> GoldenJSON {
    var values: [String: GoldenJSON] = [:]
    for key in (forms.objects[form] ?? [:]).keys { values[key] = forms.usual(key, of: form) }
    var reader = GoldenReader(lines.removeFirst().dropFirst(indent))
    _ = reader.word(until: " ")
    while reader.take(" ") {
      if reader.take("-") {
        values[reader.word(until: " ")] = nil
      } else {
        let key = reader.word(until: "=")
        guard reader.take("="), let value = reader.value() else { break }
        values[key] = value
      }
    }
    var lists: [String: [GoldenJSON]] = [:]
    while let next = lines.first, next.prefix(while: { $0 == " " }).count == indent + 1 {
      let label = next.dropFirst(indent + 1).prefix { $0 != " " }
      let key = String(label.drop { $0 == "*" })
      let child = object(&lines, GoldenForms.name(key, in: form), indent: indent + 1)
      if label.hasPrefix("*") { lists[key, default: []].append(child) } else { values[key] = child }
    }
    for (key, elements) in lists { values[key] = .list(elements) }
    return .object(values.sorted { $0.key < $1.key }.map { GoldenJSON.Field(key: $0.key, value: $0.value) })
  }

  private func withHeads(_ lines: [String]) -> [String] {
    var result: [String] = []
    var (family, isBare) = ("", false)
    for line in lines {
      if line == "!" {
        isBare = true
        continue
      }
      if !line.hasPrefix("#"), Self.family(of: line) != family {
        family = Self.family(of: line)
        if !isBare { result += forms.metrics[family] ?? [] }
        isBare = false
      }
      result.append(line)
    }
    return result
  }
}

extension GoldenJSON {
  /// The fields of the objects of a list that has nothing else; nil for other values.
  fileprivate var objects: [[Field]]? {
    guard case .list(let elements) = self, !elements.isEmpty else { return nil }
    var objects: [[Field]] = []
    for element in elements {
      guard case .object(let fields) = element, !fields.isEmpty else { return nil }
      objects.append(fields)
    }
    return objects
  }
}
