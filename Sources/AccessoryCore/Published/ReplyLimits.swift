// SPDX-License-Identifier: Apache-2.0

// Limits of the numbers in what a service or a gateway tells, so that those who read it can calculate with them and
// convert them without further checks. What is beyond the limits is rejected, like a reply without a required field.

/// A reply whose numbers have limits.
package protocol CheckedReply {
  /// Throws when a number is beyond its limits.
  func check() throws(ReplyNumberError)
}

/// A number in a reply that is beyond its limits. Decoding throws it, too.
package struct ReplyNumberError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the field.
  package let field: String
  /// The field's value as text.
  package let value: String

  package init<Number: Comparable>(_ field: String, _ value: Number) { (self.field, self.value) = (field, "\(value)") }

  /// The error as text for people.
  package var description: String { "\(field) can't be \(value)" }
}

/// The limits of numbers in replies.
package enum ReplyLimits {
  /// Bytes, milliseconds and counts. Numbers up to 2⁵³ are exact in every language's JSON parser.
  package static let count = 0...(1 << 53)
  /// Seconds since 1970, up to the year 2106, or seconds since the machine was started.
  package static let seconds = 0...Double(UInt32.max)
  /// Megabits per second.
  package static let speed = 0...1_000_000.0
  package static let percent: ClosedRange<Int> = 0...100
  /// The greatest number of devices that a service has, and that a client stores for one service.
  package static let devices = 4_096
  /// The most bytes of text that a client stores for the devices of one service.
  package static let deviceBytes = 16 << 20
  /// The numbers of data bits, and of stop bits.
  package static let bits = 0...32

  /// Throws when there is a value, and it is beyond `limits` or not a number.
  package static func check<Number: Comparable>(
    _ value: Number?, _ limits: ClosedRange<Number>, _ field: String
  ) throws(ReplyNumberError) {
    guard let value, !limits.contains(value) else { return }
    throw ReplyNumberError(field, value)
  }

  /// Throws when there is a text, and it has more than `limit` bytes.
  package static func check(length text: String?, _ limit: Int, _ field: String) throws(ReplyNumberError) {
    try check(text?.utf8.count, 0...limit, "the length of \(field)")
  }

  package static func check(counts: [String: Int?]) throws(ReplyNumberError) {
    for (field, value) in counts { try check(value, count, field) }
  }
}
