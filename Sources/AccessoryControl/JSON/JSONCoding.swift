// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

// Conversion between Swift's types and `JSON`. The bytes passed to Foundation's coders are our own or were checked by
// `JSON.init`.

extension JSON {
  package init(encoding value: some Encodable) throws {
    try self.init(Array(JSONEncoder().encode(value)))
  }

  /// Decodes a `Value`.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
