// SPDX-License-Identifier: Apache-2.0

/// An optional value that is written as null. Synthesised `Encodable` code would leave the field out.
package struct OrNull<Value: Encodable>: Encodable {
  /// The value; nil for null.
  package let value: Value?

  /// A value, or null for nil.
  package init(_ value: Value?) { self.value = value }

  /// Writes the value or null.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value { try container.encode(value) } else { try container.encodeNil() }
  }
}

extension OrNull: Sendable where Value: Sendable {}
