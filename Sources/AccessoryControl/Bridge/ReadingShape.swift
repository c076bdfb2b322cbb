// SPDX-License-Identifier: Apache-2.0

/// The wire format of a reading. Fields that are nil are left out.
package protocol ReadingShape: Codable, Sendable, Hashable {
  /// The names of all fields.
  associatedtype CodingKeys: CodingKey & CaseIterable
}

/// A reading as in a JSON document: fields that are nil are written as null.
package struct WithNulls<Shape: ReadingShape>: Encodable, Sendable {
  private let shape: Shape

  /// A document of `shape`.
  package init(_ shape: Shape) { self.shape = shape }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Shape.CodingKeys.self)
    for field in Shape.CodingKeys.allCases { try fields.encodeNil(forKey: field) }
    // Fields with a value overwrite their nulls.
    try shape.encode(to: encoder)
  }
}
