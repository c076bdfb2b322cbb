// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import FoundationEssentials

// What `--json` prints; Documentation/json.md and Documentation/schema/output-2.schema.json describe it. Names are in snake
// case with their units; what isn't known is null, never left out; bytes are in a field `hex`; `time` is seconds since 1970;
// `device` is a device. Fields may be added under the same schema name; a change of meaning gets a new one.

/// What the fields of a document mean.
package enum DocumentSchema {
  /// The name that every document has as its `schema`.
  package static let name = "accessory-bridge/2"
}

/// Documents as text.
package enum DocumentText {
  /// A document as JSON on one line, without a line end: the fields in alphabetical order, and what a terminal would act on
  /// as escapes. Nil when a number in it is none that JSON has (infinite, or not a number).
  package static func line(_ document: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(document) else { return nil }
    return SafeText.escapeJSON(String(decoding: data, as: UTF8.self))
  }
}
