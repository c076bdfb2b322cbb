// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Values of replies, for people.
package enum ValueView {
  /// A value without its unit. The accessory's texts are escaped.
  package static func text(_ value: PlainValue) -> String {
    switch value {
    case .whole(let number): "\(number)"
    case .number(let number): "\(number)"
    case .text(let text): SafeText.escape(text)
    case .list(let values): values.isEmpty ? "none" : values.map(text).joined(separator: ", ")
    case .bytes(let bytes): Hexadecimal.string(bytes)
    case .flag(let isSet): isSet ? "yes" : "no"
    case .nothing: "-"
    }
  }

  /// "speed: 50 %, tacho: 90 °"; a single value without its name.
  package static func line(_ values: [NamedValue]) -> String {
    let texts = values.map { value in
      text(value.value) + (value.unit.map { value.value == .nothing ? "" : " \($0)" } ?? "")
    }
    if texts.count == 1 { return texts[0] }
    return zip(values, texts).map { "\($0.name): \($1)" }.joined(separator: ", ")
  }
}
