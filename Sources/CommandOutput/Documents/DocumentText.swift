// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import FoundationEssentials

// The output of `--json`, which Documentation/json.md and Documentation/schema/output-2.schema.json describe. Names are
// in snake case and end with their unit. An unknown value is null, and never left out. Bytes are in a field `hex`,
// `time` is in seconds since 1970, and `device` is a `DeviceDocument`. Fields may be added under the same schema name;
// a change of a field's meaning needs a new name.

/// The schema of all documents.
package enum DocumentSchema {
  /// The value of the field `schema`.
  package static let name = "accessory-bridge/2"
}

/// The text form of documents.
package enum DocumentText {
  /// A document as one line of JSON, without a line end. Fields are in alphabetical order, and characters that a
  /// terminal would act on are escaped. Nil when the document contains a number that JSON can't express: infinite, or
  /// not a number.
  package static func line(_ document: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(WithNulls(document)) else { return nil }
    return SafeText.escapeJSON(String(decoding: data, as: UTF8.self))
  }
}
