// SPDX-License-Identifier: Apache-2.0

/// Formats a number of things in words: "1 byte", "3 bytes", "7 accessories".
package enum Amount {
  /// `count` things; `noun` is the singular.
  package static func of(_ count: Int, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    return "\(count) " + (noun.hasSuffix("ory") ? "\(noun.dropLast())ies" : "\(noun)s")
  }

  /// The same with a verb: "1 byte is", "3 bytes are".
  package static func of(_ count: Int, _ noun: String, is verb: (one: String, many: String)) -> String {
    "\(of(count, noun)) \(count == 1 ? verb.one : verb.many)"
  }
}
