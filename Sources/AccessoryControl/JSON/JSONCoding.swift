// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

// Between Swift's types and JSON. Only values of our own making and such as `JSON.init` has let pass get here.

extension JSON {
  /// The JSON of a value of ours.
  package init(encoding value: some Encodable) throws {
    try self.init(Array(JSONEncoder().encode(value)))
  }

  /// A `Value` made of this.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
