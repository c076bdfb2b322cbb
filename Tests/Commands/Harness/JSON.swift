// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value, told from others by its type too: 57, "57", null and nothing at all are four things.
enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads a document.
  init(_ text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

  /// A field of an object.
  subscript(_ name: String) -> JSON? {
    if case .object(let fields) = self { fields[name] } else { nil }
  }

  /// An element of an array.
  subscript(_ index: Int) -> JSON? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The object without a field.
  func without(_ name: String) -> JSON {
    guard case .object(var fields) = self else { return self }
    fields[name] = nil
    return .object(fields)
  }

  /// The object with the fields of another one.
  func merging(_ other: JSON) -> JSON {
    guard case .object(let fields) = self, case .object(let more) = other else { return self }
    return .object(fields.merging(more) { $1 })
  }

  /// The text, if it is one.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The number, if it is one.
  var double: Double? { if case .number(let number) = self { number } else { nil } }
}

extension JSON: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  init(nilLiteral: ()) { self = .null }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int) { self = .number(Double(value)) }
  init(stringLiteral value: String) { self = .string(value) }
  init(arrayLiteral elements: JSON...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
