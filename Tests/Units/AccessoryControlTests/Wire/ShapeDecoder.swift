// SPDX-License-Identifier: Apache-2.0

@testable import AccessoryControl

/// Finds out which fields a type of Swift reads, with their types in the interface's words: the type is decoded from nothing, and what it
/// asks for is noted. So its `Codable` conformance, made by the compiler or written, is the list of its fields.
struct ShapeDecoder: Decoder {
  /// What was asked for.
  final class Asked {
    var fields: [InterfaceDescription.Field] = []
    /// The type of what is no object.
    var single: InterfaceDescription.FieldType?
    var type: InterfaceDescription.FieldType { single ?? .structure(fields) }
  }

  let asked = Asked()
  /// What each text is.
  var text = Self.texts[0]
  /// An address of Bluetooth, and a way to share: types that reject other texts take one of them.
  private static let texts = ["00:00:00:00:00:01", "read"]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The fields of an object.
  static func fields<Value: Decodable>(of type: Value.Type) -> [InterfaceDescription.Field] {
    let decoder = ShapeDecoder()
    // A type that rejects the made-up content has asked for its fields up to there.
    _ = try? Value(from: decoder)
    return decoder.asked.fields
  }

  fileprivate static func type<Value: Decodable>(of type: Value.Type) -> InterfaceDescription.FieldType {
    switch type {
    case is Bool.Type: return .bool
    case is String.Type: return .string
    case is Double.Type: return .float
    case is any FixedWidthInteger.Type: return .int
    case let type as any ShapedType.Type: return type.shape
    case let type as any CaseIterable.Type: return .enumeration(words(type))
    default:
      let decoder = ShapeDecoder()
      _ = try? Value(from: decoder)
      return decoder.asked.type
    }
  }

  private static func words<Words: CaseIterable>(_ type: Words.Type) -> [String] {
    type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
  }

  /// Something of the type.
  fileprivate static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    let value: Any? =
      switch type {
      case is Bool.Type: false
      case is String.Type: text
      case is Double.Type: 0.0
      case let type as any FixedWidthInteger.Type: type.init(0)
      case let type as any CaseIterable.Type: first(type)
      default: texts.lazy.compactMap { try? Value(from: ShapeDecoder(text: $0)) }.first
      }
    if let value = value as? Value { return value }
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "\(type) rejects what is made up"))
  }

  private static func first<Words: CaseIterable>(_ type: Words.Type) -> Any? { type.allCases.first }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Fields(asked: asked, text: text))
  }
  func unkeyedContainer() -> any UnkeyedDecodingContainer { Nothing() }
  func singleValueContainer() -> any SingleValueDecodingContainer { Single(asked: asked, text: text) }
}

/// A type whose form in the interface follows from those of its parts.
private protocol ShapedType { static var shape: InterfaceDescription.FieldType { get } }

extension Optional: ShapedType where Wrapped: Decodable {
  fileprivate static var shape: InterfaceDescription.FieldType { .optional(ShapeDecoder.type(of: Wrapped.self)) }
}
extension Array: ShapedType where Element: Decodable {
  fileprivate static var shape: InterfaceDescription.FieldType { .array(ShapeDecoder.type(of: Element.self)) }
}
extension Dictionary: ShapedType where Key == String, Value: Decodable {
  fileprivate static var shape: InterfaceDescription.FieldType { .map(ShapeDecoder.type(of: Value.self)) }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let asked: ShapeDecoder.Asked
  let text: String
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }
  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  private func note<Value: Decodable>(_ type: Value.Type, _ key: Key, isOptional: Bool) {
    let shape = ShapeDecoder.type(of: type)
    asked.fields.append(.init(name: key.stringValue, type: isOptional ? .optional(shape) : shape))
  }
  private func told<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    note(type, key, isOptional: false)
    return try ShapeDecoder.value(type, text)
  }
  private func untold<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
    note(type, key, isOptional: true)
    return nil
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try told(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try told(type, key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try told(type, key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try told(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try told(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try told(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try told(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try told(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try told(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try told(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try told(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try told(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try told(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try told(type, key) }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try told(type, key) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { untold(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { untold(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { untold(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? { untold(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { untold(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? { untold(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? { untold(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? { untold(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { untold(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? { untold(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? { untold(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? { untold(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? { untold(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? { untold(type, key) }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? { untold(type, key) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested>
  {
    ShapeDecoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Nothing() }
  func superDecoder() -> any Decoder { ShapeDecoder() }
  func superDecoder(forKey key: Key) -> any Decoder { ShapeDecoder() }
}

/// A list without elements.
private struct Nothing: UnkeyedDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 0 }
  var isAtEnd: Bool { true }
  var currentIndex: Int { 0 }
  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try ShapeDecoder.value(type, "") }
  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
    ShapeDecoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { Nothing() }
  func superDecoder() -> any Decoder { ShapeDecoder() }
}

private struct Single: SingleValueDecodingContainer {
  let asked: ShapeDecoder.Asked
  let text: String
  var codingPath: [any CodingKey] { [] }
  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    asked.single = ShapeDecoder.type(of: type)
    return try ShapeDecoder.value(type, text)
  }
}
