// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of an accessory's values, and the method that reads them.

extension Bridge {
  package struct MeasuredValue: Codable, Sendable, Hashable {
    package var name, kind: String
    package var quantity, unit, role, text: String?
    package var number: Double?
    package var flag, derived, stale: Bool?
    package var age_ms: Int?

    /// A value of which only the name is known.
    package init(name: String) { (self.name, kind) = (name, "unknown") }

    /// Converts a value to the wire format. `age_ms` is its age; nil for a value of now.
    package init(_ value: AccessoryValue, age_ms: Int? = nil) {
      self.init(name: value.name)
      (quantity, unit, role) = (value.quantity?.rawValue, value.unit?.rawValue, value.role?.rawValue)
      (derived, self.age_ms) = (value.isDerived, age_ms)
      switch value.content {
      case .number(let number): (kind, self.number) = ("number", number)
      case .text(let text): (kind, self.text) = ("text", text)
      case .flag(let flag): (kind, self.flag) = ("flag", flag)
      case .choice(let word, let number): (kind, text, self.number) = ("choice", word, Double(number))
      case nil: break
      }
    }

    /// Converts the wire format to a value. The content is unknown where this version doesn't know the kind, or where
    /// the kind's field is missing.
    package var reading: AccessoryValue {
      let content: AccessoryValue.Content? =
        switch kind {
        case "number": number.map { .number($0) }
        case "text": text.map { .text($0) }
        case "flag": flag.map { .flag($0) }
        case "choice":
          text.flatMap { word in number.flatMap { Int(exactly: $0) }.map { .choice(word: word, number: $0) } }
        default: nil
        }
      return AccessoryValue(
        name, quantity: quantity.map { .init(rawValue: $0) }, unit: unit.map { MeasurementUnit(rawValue: $0) },
        role: role.map { .init(rawValue: $0) }, content: content, isDerived: derived ?? false)
    }
  }

  package struct GetValues: ControlMethod {
    package static let method = "accessorybridge.Bridge.Values"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var values: [MeasuredValue]

      package init(device: Device, values: [MeasuredValue]) {
        self.device = device
        self.values = values
      }
    }

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }
}

extension Bridge.MeasuredValue: CheckedReply {
  package func check() throws(ReplyNumberError) {
    if let number, !number.isFinite { throw ReplyNumberError("number", number) }
    try ReplyLimits.check(age_ms, ReplyLimits.count, "age_ms")
    try ReplyLimits.check(length: name, ReadingLimits.nameBytes, "name")
    try ReplyLimits.check(length: kind, ReadingLimits.nameBytes, "kind")
    try ReplyLimits.check(length: quantity, ReadingLimits.quantityBytes, "quantity")
    try ReplyLimits.check(length: unit, ReadingLimits.unitBytes, "unit")
    try ReplyLimits.check(length: role, ReadingLimits.nameBytes, "role")
    try ReplyLimits.check(length: text, ReadingLimits.textBytes, "text")
  }

  /// Throws when there are too many values, or when one is beyond its limits.
  static func check(_ values: [Self]) throws(ReplyNumberError) {
    try ReplyLimits.check(values.count, 0...ReadingLimits.values, "the number of values")
    for value in values { try value.check() }
  }
}

extension Bridge.GetValues.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try device.check()
    try Bridge.MeasuredValue.check(values)
  }
}
