// SPDX-License-Identifier: Apache-2.0

import Glibc

// What is done with all goldens at once; see `Tests/Tools/goldens`.

func read(_ path: String) -> String {
  guard let file = fopen(path, "r") else { fatalError("can't read \(path)") }
  defer { fclose(file) }
  var (all, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
  while true {
    let count = fread(&piece, 1, piece.count, file)
    if count == 0 { return String(decoding: all, as: UTF8.self) }
    all += piece[..<count]
  }
}

func write(_ text: String, to path: String) {
  guard let file = fopen(path, "w"), fputs(text, file) >= 0, fclose(file) == 0 else {
    fatalError("can't write \(path)")
  }
}

func split(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: true) }

/// All objects of a document with the names of their forms.
func visit(_ value: GoldenJSON, _ form: String, _ body: (String, [GoldenJSON.Field]) -> Void) {
  guard case .object(let fields) = value, !fields.isEmpty else { return }
  body(form, fields)
  for field in fields {
    let name = GoldenForms.name(field.key, in: form)
    if case .list(let elements) = field.value { for element in elements { visit(element, name, body) } }
    visit(field.value, name, body)
  }
}

/// The forms of these documents: a key has a usual value if at least seven in ten objects have it, or four in ten have null.
func forms(of goldens: [[(question: String, answer: String)]]) -> GoldenForms {
  var forms = GoldenForms()
  var counts: [String: Int] = [:]
  var values: [String: [String: [String: Int]]] = [:]
  let documents = goldens.joined().compactMap { question, answer in
    GoldenJSON(answer.prefix { $0 != "\n" }).map { (form: GoldenForms.name(of: question), $0) }
  }
  // Objects in objects are as usual where those in them are: the deepest ones are found first.
  for _ in 0..<4 {
    (counts, values) = ([:], [:])
    for (form, document) in documents {
      visit(document, form) { name, fields in
        counts[name, default: 0] += 1
        for field in fields {
          let isUsual = field.value == forms.object(of: GoldenForms.name(field.key, in: name))
          let text = isUsual ? "~" : field.value.text
          values[name, default: [:]][field.key, default: [:]][text, default: 0] += 1
        }
      }
    }
    for (name, keys) in values {
      forms.objects[name] = keys.compactMapValues { texts in
        guard let count = counts[name], let most = texts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else {
          return nil
        }
        if let missing = texts["null"], missing * 10 >= count * 4 { return .value(.leaf("null")) }
        guard most.value * 10 >= count * 7 else { return nil }
        if most.key == "~" { return .object }
        // An object that is mostly the same is usual by its own form.
        return GoldenJSON(most.key).map { $0.hasFields ? .object : .value($0) }
      }
    }
  }
  for (question, answer) in goldens.joined() where question.contains("metrics") {
    for line in split(answer) where line.hasPrefix("#") {
      let name = String(line.split(separator: " ")[2])
      if forms.metrics[name, default: []].count < 2, !forms.metrics[name, default: []].contains(String(line)) {
        forms.metrics[name, default: []].append(String(line))
      }
    }
  }
  return forms
}

/// The document with one thing changed, once for each field and each element: another value, and no value.
func mutations(of value: GoldenJSON) -> [GoldenJSON] {
  var changed: [GoldenJSON] = []
  switch value {
  case .leaf(let text):
    let other = ["null": "0", "true": "false", "false": "true"][text]
    changed.append(.leaf(text.hasPrefix("\"") ? "\"x" + text.dropFirst() : other ?? text + "1"))
  case .list(let elements):
    changed.append(.list(elements + [GoldenJSON.leaf("1")]))
    for (index, element) in elements.enumerated() {
      var other = elements
      other.remove(at: index)
      changed.append(.list(other))
      other = elements
      for mutation in mutations(of: element) {
        other[index] = mutation
        changed.append(.list(other))
      }
    }
  case .object(let fields):
    for (index, field) in fields.enumerated() {
      var other = fields
      other.remove(at: index)
      changed.append(.object(other))
      other = fields
      other[index].key += "_x"
      changed.append(.object(other))
      other[index].key = field.key
      for mutation in mutations(of: field.value) {
        other[index].value = mutation
        changed.append(.object(other))
      }
    }
  }
  return changed
}

/// Each line with another character at its end, and each line missing.
func mutations(ofText text: String) -> [String] {
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  return lines.indices.flatMap { index in
    var (changed, without) = (lines, lines)
    changed[index] += "1"
    without.remove(at: index)
    return [changed.joined(separator: "\n"), without.joined(separator: "\n")]
  }
}

let words = Array(CommandLine.arguments.dropFirst())
let folder = words[1]
let names = words.dropFirst(2).sorted()
let known = GoldenText(forms: GoldenForms(lines: split(read("\(folder)/forms.txt"))))
let goldens = names.map { known.answers(in: split(read("\(folder)/\($0)"))) }
switch words[0] {
case "forms":
  let text = GoldenText(forms: forms(of: goldens))
  write(text.forms.lines.joined(separator: "\n") + "\n", to: "\(folder)/forms.txt")
  for (name, answers) in zip(names, goldens) {
    write(text.lines(of: answers).joined(separator: "\n") + "\n", to: "\(folder)/\(name)")
  }
case "mutate":
  var (made, missed, fields) = (0, 0, Set<String>())
  for (name, answers) in zip(names, goldens) {
    for (index, (question, answer)) in answers.enumerated() {
      // Alone, and after the same question if there was one: both are how the lines of this answer come about.
      let before = answers[..<index].last { $0.question == question }
      let context = before.map { [$0] } ?? []
      let golden = known.lines(of: context + [(question, answer)])
      let document = GoldenJSON(answer.prefix { $0 != "\n" })
      if let document {
        visit(document, GoldenForms.name(of: question)) { form, own in
          for field in own { fields.insert("\(form) \(field.key)") }
        }
      }
      for changed in document.map({ mutations(of: $0).map(\.text) }) ?? mutations(ofText: answer) {
        made += 1
        if known.lines(of: context + [(question, changed)]) == golden {
          missed += 1
          print("\(name): \(question): not found: \(changed.prefix(200))")
        }
      }
    }
  }
  print(
    "\(names.count) goldens, \(fields.count) published fields, \(made) mutations, \(made - missed) found, \(missed) missed"
  )
  exit(missed == 0 ? 0 : 1)
default: fatalError("forms or mutate")
}
