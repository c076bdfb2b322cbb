// SPDX-License-Identifier: Apache-2.0

/// A value whose unknown fields, and those of everything in it, are written as null: as in JSON documents. Without this they
/// are left out: as in the service's interface.
package struct WithNulls<Value: Encodable>: Encodable {
  private let value: Value

  /// A document of `value`.
  package init(_ value: Value) { self.value = value }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder.writesNulls ? encoder : NullEncoder(base: encoder))
  }
}

extension WithNulls: Sendable where Value: Sendable {}

extension Encoder {
  /// Whether unknown fields are written as null, and not left out.
  package var writesNulls: Bool { self is NullEncoder }
}

/// An encoder whose containers write null where others leave a field out.
private struct NullEncoder: Encoder {
  let base: any Encoder
  var codingPath: [any CodingKey] { base.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Fields(base: base.container(keyedBy: type)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { Elements(base: base.unkeyedContainer()) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(base: base.singleValueContainer()) }

  private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var base: KeyedEncodingContainer<Key>
    var codingPath: [any CodingKey] { base.codingPath }

    mutating func encodeNil(forKey key: Key) throws { try base.encodeNil(forKey: key) }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      try base.encode(WithNulls(value), forKey: key)
    }

    private mutating func put<Value: Encodable>(_ value: Value?, _ key: Key) throws {
      if let value { try base.encode(WithNulls(value), forKey: key) } else { try encodeNil(forKey: key) }
    }

    // Without one for each type, the standard library's own would be used, which leave nil out.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }
    mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try put(value, key) }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      KeyedEncodingContainer<Nested>(Fields<Nested>(base: base.nestedContainer(keyedBy: type, forKey: key)))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      Elements(base: base.nestedUnkeyedContainer(forKey: key))
    }

    mutating func superEncoder() -> any Encoder { NullEncoder(base: base.superEncoder()) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { NullEncoder(base: base.superEncoder(forKey: key)) }
  }

  private struct Elements: UnkeyedEncodingContainer {
    var base: any UnkeyedEncodingContainer
    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int { base.count }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(WithNulls(value)) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      KeyedEncodingContainer(Fields(base: base.nestedContainer(keyedBy: type)))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      Elements(base: base.nestedUnkeyedContainer())
    }

    mutating func superEncoder() -> any Encoder { NullEncoder(base: base.superEncoder()) }
  }

  private struct Single: SingleValueEncodingContainer {
    var base: any SingleValueEncodingContainer
    var codingPath: [any CodingKey] { base.codingPath }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base.encode(value) }
    mutating func encode(_ value: String) throws { try base.encode(value) }
    mutating func encode(_ value: Double) throws { try base.encode(value) }
    mutating func encode(_ value: Float) throws { try base.encode(value) }
    mutating func encode(_ value: Int) throws { try base.encode(value) }
    mutating func encode(_ value: Int8) throws { try base.encode(value) }
    mutating func encode(_ value: Int16) throws { try base.encode(value) }
    mutating func encode(_ value: Int32) throws { try base.encode(value) }
    mutating func encode(_ value: Int64) throws { try base.encode(value) }
    mutating func encode(_ value: UInt) throws { try base.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base.encode(value) }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try base.encode(WithNulls(value)) }
  }
}
