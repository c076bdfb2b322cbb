// SPDX-License-Identifier: Apache-2.0

/// A JSON document as it was printed: numbers and texts keep their characters, and objects the order of their keys.
indirect enum GoldenJSON: Equatable, Sendable {
  /// A number, a text with its quotes, `true`, `false` or `null`.
  case leaf(String)
  case list([GoldenJSON])
  case object([Field])

  struct Field: Equatable, Sendable {
    var key: String
    var value: GoldenJSON
  }

  /// The document in one line, without blanks between its parts.
  var text: String {
    switch self {
    case .leaf(let text): text
    case .list(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let fields): "{\(fields.map { "\"\($0.key)\":\($0.value.text)" }.joined(separator: ","))}"
    }
  }

  /// Whether there is an object with fields in it.
  var hasFields: Bool {
    switch self {
    case .leaf: false
    case .list(let elements): elements.contains { $0.hasFields }
    case .object(let fields): !fields.isEmpty
    }
  }

  /// Reads a document without blanks between its parts; nil if `text` is something else.
  init?(_ text: some StringProtocol) {
    var reader = GoldenReader(text)
    guard let document = reader.value(), reader.isAtEnd else { return nil }
    self = document
  }
}

/// Reads JSON without blanks between its parts.
struct GoldenReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { place == bytes.count }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  /// The characters up to one of these, or to the end.
  mutating func word(until ends: String) -> String {
    let begin = place
    while place < bytes.count, !ends.utf8.contains(bytes[place]) { place += 1 }
    return String(decoding: bytes[begin..<place], as: UTF8.self)
  }

  mutating func value(depth: Int = 0) -> GoldenJSON? {
    guard depth < 32 else { return nil }
    if take("{") {
      var fields: [GoldenJSON.Field] = []
      if take("}") { return .object(fields) }
      repeat {
        guard let key = quoted(), take(":"), let value = value(depth: depth + 1) else { return nil }
        fields.append(GoldenJSON.Field(key: String(key.dropFirst().dropLast()), value: value))
      } while take(",")
      return take("}") ? .object(fields) : nil
    }
    if take("[") {
      var elements: [GoldenJSON] = []
      if take("]") { return .list(elements) }
      repeat {
        guard let element = value(depth: depth + 1) else { return nil }
        elements.append(element)
      } while take(",")
      return take("]") ? .list(elements) : nil
    }
    if let text = quoted() { return .leaf(text) }
    let word = word(until: ",]} \n\t:\"")
    return word.isEmpty ? nil : .leaf(word)
  }

  /// A text with its quotes.
  private mutating func quoted() -> String? {
    let begin = place
    guard take("\"") else { return nil }
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard place < bytes.count, take("\"") else {
      place = begin
      return nil
    }
    return String(decoding: bytes[begin..<place], as: UTF8.self)
  }
}
