// SPDX-License-Identifier: Apache-2.0

@testable import AccessoryControl

/// The interface's text, held against what Swift's types read. Fields and words that it lacks are added, behind those that are there: the
/// interface only grows. All else that differs is a problem. Comments, and the order of the fields, are the text's own.
struct InterfaceRenewal {
  private typealias Field = InterfaceDescription.Field
  private typealias FieldType = InterfaceDescription.FieldType

  /// The parentheses with some of the fields.
  private enum Group: CustomStringConvertible {
    case type(String), parameters(String), answer(String)

    var description: String {
      switch self {
      case .type(let name): name
      case .parameters(let name): "the parameters of \(name)"
      case .answer(let name): "the answer to \(name)"
      }
    }
  }

  private(set) var text: String
  private(set) var problems: [String] = []
  private let interface: InterfaceDescription
  private var seen: Set<String>

  /// Types of which a kind decides which fields are read, so that nobody asks for all at once.
  private static let byKind: Set = ["CommandArgument", "CommandSetting", "Value"]
  /// What commands add to a device themselves, and what follows from another field.
  private static let unread = ["Device.access", "USBInterface.class_name"]

  /// The text that has all that these methods, and what they take and answer, have in Swift.
  init(_ text: String, _ methods: [any ControlMethod.Type]) throws {
    (self.text, interface, seen) = (text, try InterfaceDescription(text), Self.byKind.union(["Access"]))
    for method in methods { check(method) }
    let known = Set(methods.map(Self.name))
    problems += interface.methods.keys.filter { !known.contains($0) }.sorted().map { "no type in Swift is \($0)" }
    problems += interface.types.keys.filter { !seen.contains($0) }.sorted().map { "no method has a \($0)" }
  }

  private static func name(_ method: any ControlMethod.Type) -> String {
    String(method.method.dropFirst(Bridge.name.count + 1))
  }

  private mutating func check<Method: ControlMethod>(_ method: Method.Type) {
    let name = Self.name(method)
    guard let own = interface.methods[name] else { return problems.append("there is no method \(name)") }
    check(.parameters(name), own.input, ShapeDecoder.fields(of: method))
    check(.answer(name), own.output, ShapeDecoder.fields(of: Method.Reply.self))
  }

  private mutating func check(_ group: Group, _ own: [Field], _ read: [Field]) {
    for field in read {
      if let known = own.first(where: { $0.name == field.name }) {
        check(known.type, field.type, field.name, in: group)
      } else {
        add("\(field.name): \(Self.text(field.type))", to: group)
      }
    }
    for field in own where !read.contains(where: { $0.name == field.name }) {
      if !Self.unread.contains("\(group).\(field.name)") {
        problems.append("Swift doesn't read \(field.name) of \(group)")
      }
    }
  }

  private mutating func check(_ own: FieldType, _ read: FieldType, _ name: String, in group: Group) {
    switch (own, read) {
    case (.optional(let own), .optional(let read)), (.array(let own), .array(let read)),
      (.map(let own), .map(let read)):
      check(own, read, name, in: group)
    // Who reads may want less than is told.
    case (let own, .optional(let read)): check(own, read, name, in: group)
    case (.named(let type), _):
      guard let its = interface.types[type] else { return }
      guard case .structure(let own) = its, case .structure(let read) = read else {
        return check(its, read, name, in: group)
      }
      if seen.insert(type).inserted { check(.type(type), own, read) }
    case (.enumeration(let own), .enumeration(let read)):
      for word in read where !own.contains(word) { addWord(word, to: name, of: group) }
      for word in own where !read.contains(word) { problems.append("\(name) of \(group) is never \(word)") }
    // Words that Swift takes as they come.
    case (.enumeration, .string): break
    default:
      if own != read { problems.append("\(name) of \(group) is \(Self.text(own)), and Swift reads \(Self.text(read))") }
    }
  }

  // MARK: - Text

  private static func text(_ type: FieldType) -> String {
    switch type {
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .object: "object"
    case .named(let name): name
    case .optional(let type): "?" + text(type)
    case .array(let type): "[]" + text(type)
    case .map(let type): "[string]" + text(type)
    case .structure(let fields): "(" + fields.map { "\($0.name): \(text($0.type))" }.joined(separator: ", ") + ")"
    case .enumeration(let words): "(" + words.joined(separator: ", ") + ")"
    }
  }

  /// What is between the parentheses.
  private func place(of group: Group) -> Range<String.Index>? {
    func inner(after start: String, in rest: Substring) -> Range<String.Index>? {
      guard let open = rest.firstRange(of: start)?.upperBound else { return nil }
      var depth = 1
      let end = rest[open...].firstIndex { letter in
        depth += letter == "(" ? 1 : letter == ")" ? -1 : 0
        return depth == 0
      }
      return end.map { open..<$0 }
    }
    switch group {
    case .type(let name): return inner(after: "\ntype \(name) (", in: text[...])
    case .parameters(let name): return inner(after: "\nmethod \(name)(", in: text[...])
    case .answer(let name):
      return place(of: .parameters(name)).flatMap { inner(after: "-> (", in: text[$0.upperBound...]) }
    }
  }

  private mutating func add(_ field: String, to group: Group) {
    guard let place = place(of: group) else { return problems.append("\(group) lacks \(field)") }
    let body = text[place]
    let end = body.last == "\n" ? text.index(before: place.upperBound) : place.upperBound
    text.insert(contentsOf: body.isEmpty ? field : body.last == "\n" ? ",\n  \(field)" : ", \(field)", at: end)
  }

  private mutating func addWord(_ word: String, to name: String, of group: Group) {
    guard let place = place(of: group), let field = text[place].firstRange(of: "\(name): "),
      let end = text[field.upperBound...].firstIndex(of: ")")
    else { return problems.append("\(name) of \(group) lacks \(word)") }
    text.insert(contentsOf: ", \(word)", at: end)
  }
}
