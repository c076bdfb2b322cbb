// SPDX-License-Identifier: Apache-2.0

/// How many of something, as it is said: "1 byte", "3 bytes", "2 accessories".
package enum Amount {
  /// `count` things; `noun` is the singular.
  package static func of(_ count: some BinaryInteger, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    return "\(count) "
      + (noun.hasSuffix("ory") || noun.hasSuffix("try") || noun.hasSuffix("ery") ? "\(noun.dropLast())ies" : "\(noun)s")
  }

  /// "1 byte", "3 bytes".
  package static func bytes(_ count: some BinaryInteger) -> String { of(count, "byte") }

  /// `count` things with a verb: "1 byte is", "3 bytes are".
  package static func of(_ count: some BinaryInteger, _ noun: String, is verb: (one: String, many: String)) -> String {
    "\(of(count, noun)) \(count == 1 ? verb.one : verb.many)"
  }

  /// A time in its largest whole unit: "1 minute", "3 hours", "12 days".
  package static func time(seconds: Double) -> String {
    let seconds = Int(max(0, min(seconds, 1e10)))
    for (unit, noun) in [(86_400, "day"), (3_600, "hour"), (60, "minute")] where seconds >= unit {
      return of(seconds / unit, noun)
    }
    return of(seconds, "second")
  }

  /// How often: "once", "3 times".
  package static func times(_ count: some BinaryInteger) -> String { count == 1 ? "once" : "\(count) times" }
}
