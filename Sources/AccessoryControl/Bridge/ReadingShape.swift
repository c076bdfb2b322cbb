// SPDX-License-Identifier: Apache-2.0

/// The fields of a reading as they are written. A field without a value is left out.
package protocol ReadingShape: Codable, Sendable, Hashable {
  /// The names of all fields.
  associatedtype CodingKeys: CodingKey & CaseIterable
}

/// A reading with all its fields, as a JSON document has it: null where the shape leaves a field out.
package struct WithNulls<Shape: ReadingShape>: Encodable, Sendable {
  private let shape: Shape

  /// All fields of `shape`.
  package init(_ shape: Shape) { self.shape = shape }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Shape.CodingKeys.self)
    for field in Shape.CodingKeys.allCases { try fields.encodeNil(forKey: field) }
    // The fields that have a value take the place of their nulls.
    try shape.encode(to: encoder)
  }
}
