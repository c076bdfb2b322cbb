// SPDX-License-Identifier: Apache-2.0

/// Why a text is not a valid interface definition.
package struct InterfaceError: Error, Hashable, Sendable, CustomStringConvertible {
  package let problem: String
  /// The line of the text, from 1.
  package let line: Int

  /// The error as text for people.
  package var description: String { "line \(line): \(problem)" }
}

extension InterfaceDescription {
  /// Parses an interface in Varlink's definition language (https://varlink.org/Interface-Definition).
  package init(_ text: String) throws(InterfaceError) {
    var reader = InterfaceReader(text)
    self = try reader.interface()
  }
}

/// A parser of the definition language.
private struct InterfaceReader {
  private struct Token {
    var text: Substring
    var line: Int
  }

  private let text: String
  private var tokens: ArraySlice<Token>
  private var line = 1
  /// The names of types that were used, with the lines of their first use.
  private var used: [String: Int] = [:]

  private static let depthLimit = 16

  init(_ text: String) {
    self.text = text
    var tokens: [Token] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      var rest = line.prefix { $0 != "#" }
      while let first = rest.first {
        let count: Int
        if Self.isWord(first) {
          count = rest.prefix(while: Self.isWord).count
        } else {
          count = rest.hasPrefix("->") || rest.hasPrefix("[]") ? 2 : 1
        }
        if !first.isWhitespace { tokens.append(Token(text: rest.prefix(count), line: index + 1)) }
        rest = rest.dropFirst(count)
      }
    }
    self.tokens = tokens[...]
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == ".")
  }

  private func error(_ problem: String) -> InterfaceError { InterfaceError(problem: problem, line: line) }

  private mutating func next() throws(InterfaceError) -> Substring {
    guard let token = tokens.popFirst() else { throw error("the text ends too early") }
    line = token.line
    return token.text
  }

  private mutating func take(_ wanted: String) -> Bool {
    guard let token = tokens.first, token.text == wanted else { return false }
    line = token.line
    tokens.removeFirst()
    return true
  }

  private mutating func expect(_ wanted: String) throws(InterfaceError) {
    let token = try next()
    guard token == wanted else { throw error("\(wanted) was expected, not \(token)") }
  }

  private mutating func name(capital: Bool) throws(InterfaceError) -> String {
    let token = try next()
    guard let first = token.first, first.isLetter, first.isUppercase || !capital, !token.contains(".") else {
      throw error("\(token) is not a valid name here")
    }
    return String(token)
  }

  mutating func interface() throws(InterfaceError) -> InterfaceDescription {
    try expect("interface")
    let interface = String(try next())
    guard interface.contains("."),
      interface.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
    else { throw error("\(interface) is not a valid name of an interface") }
    var types: [String: InterfaceDescription.FieldType] = [:]
    var methods: [String: InterfaceDescription.Method] = [:]
    var errors: [String: [InterfaceDescription.Field]] = [:]
    while !tokens.isEmpty {
      let keyword = try next()
      let name = try name(capital: true)
      // Types, methods and errors share one name space, as other Varlink parsers require.
      guard types[name] == nil, methods[name] == nil, errors[name] == nil else { throw error("\(name) is there twice") }
      switch keyword {
      case "type": types[name] = try group(depth: 0)
      case "error": errors[name] = try fields(depth: 0)
      case "method":
        let input = try fields(depth: 0)
        try expect("->")
        methods[name] = .init(input: input, output: try fields(depth: 0))
      default: throw error("type, method or error was expected, not \(keyword)")
      }
    }
    if let (name, line) = used.first(where: { types[$0.key] == nil }) {
      throw InterfaceError(problem: "there is no type \(name)", line: line)
    }
    return InterfaceDescription(name: interface, text: text, types: types, methods: methods, errors: errors)
  }

  private mutating func fields(depth: Int) throws(InterfaceError) -> [InterfaceDescription.Field] {
    guard case .structure(let fields) = try group(depth: depth) else { throw error("fields need types") }
    return fields
  }

  /// A structure or an enumeration, including the parentheses.
  private mutating func group(depth: Int) throws(InterfaceError) -> InterfaceDescription.FieldType {
    guard depth < Self.depthLimit else { throw error("nested too deep") }
    try expect("(")
    if take(")") { return .structure([]) }
    var fields: [InterfaceDescription.Field] = []
    var names: [String] = []
    repeat {
      let name = try name(capital: false)
      guard !names.contains(name) else { throw error("\(name) is there twice") }
      names.append(name)
      if take(":") { fields.append(.init(name: name, type: try type(depth: depth + 1))) }
    } while take(",")
    try expect(")")
    guard fields.isEmpty || fields.count == names.count else {
      throw error("some fields have a type and some have none")
    }
    return fields.isEmpty ? .enumeration(names) : .structure(fields)
  }

  private mutating func type(depth: Int) throws(InterfaceError) -> InterfaceDescription.FieldType {
    guard depth < Self.depthLimit else { throw error("nested too deep") }
    if take("?") { return .optional(try type(depth: depth + 1)) }
    if take("[]") { return .array(try type(depth: depth + 1)) }
    if take("[") {
      try expect("string")
      try expect("]")
      return .map(try type(depth: depth + 1))
    }
    if tokens.first?.text == "(" { return try group(depth: depth + 1) }
    switch try next() {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    case let name:
      guard name.first?.isUppercase == true, !name.contains(".") else { throw error("\(name) is not a type") }
      used[String(name)] = line
      return .named(String(name))
    }
  }
}
