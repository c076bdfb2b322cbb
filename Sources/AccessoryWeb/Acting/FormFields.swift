// SPDX-License-Identifier: Apache-2.0

/// The fields of a form, as browsers send them (`application/x-www-form-urlencoded`).
struct FormFields: Sendable {
  /// The longest form in bytes, and the most fields of one.
  static let (limit, fieldLimit) = (4_096, 64)

  /// The values by name, in order.
  private var values: [String: [String]] = [:]

  /// The fields of a body; nil if it isn't a form.
  init?(_ body: [UInt8]) {
    guard body.count <= Self.limit else { return nil }
    let fields = body.split(separator: UInt8(ascii: "&"))
    guard fields.count <= Self.fieldLimit else { return nil }
    for field in fields {
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = Self.text(parts[0]), let value = Self.text(parts[1]) else { return nil }
      values[name, default: []].append(value)
    }
  }

  var names: some Collection<String> { values.keys }

  /// The only value of a field; nil if there is none or several.
  subscript(_ name: String) -> String? { values[name].flatMap { $0.count == 1 ? $0[0] : nil } }

  func all(_ name: String) -> [String] { values[name] ?? [] }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return PageName.decode(text.utf8.contains(UInt8(ascii: "+")) ? spaced(text) : text)
  }

  /// Forms encode a space as a plus.
  private static func spaced(_ text: String) -> String { String(text.map { $0 == "+" ? " " : $0 }) }
}
