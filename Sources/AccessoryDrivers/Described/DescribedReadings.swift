// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// Conversions of described values to the types that all drivers share.

extension BatteryReading {
  /// The reading that consists of these values. Impossible values are unknown.
  init(described reported: [DescribedValue], derived: [DescribedValue]) {
    self.init()
    for (values, isDerived) in [(reported, false), (derived, true)] {
      for value in values where DescribedPart.isBattery(value.name) {
        guard let field = take(value) else { continue }
        if isDerived { self.derived.insert(field) }
        // What is sent as whole percent is a whole number here. A formula has more decimals than the accessory.
        if !isDerived, field == .percent, case .number(let percent) = value.value {
          percentTenths = self.percent == nil ? nil : Self.scaled(percent, 10).map { min($0, 1_000) }
        }
      }
    }
    self = bounded
    deriveLevel()
    deriveRemaining()
  }

  /// Stores a value. Returns its field, or nil when the value is unknown or impossible.
  fileprivate mutating func take(_ value: DescribedValue) -> Field? {
    guard let described = DescribedPart.ofBattery(value.name) else { return nil }
    let (field, term) = (described.field, described.term)
    switch term.form {
    case .number(let measure, let get, _):
      guard let number = Self.scaled(value.value.asNumber, measure.factor(from: value.unit)) else { return nil }
      term.set(number, in: &self)
      return get(self) == nil ? nil : field
    case .word(let words, _, let set):
      guard case .text(let word) = value.value, words.contains(word) else { return nil }
      set(&self, word)
    case .list(let measure, _, _, let get, let set):
      let factor = measure.factor(from: value.unit)
      let elements: [ReadingElement]
      if described.isElement {
        elements = [ReadingElement(Self.scaled(value.value.asNumber, factor), name: described.elementName)]
      } else {
        guard case .list(let list) = value.value else { return nil }
        elements = list.map { ReadingElement(Self.scaled($0.asNumber, factor)) }
      }
      // Elements of one list may come by several names.
      set(&self, get(self) + elements)
    case .names(_, let set): set(&self, value.words)
    }
    return field
  }

  /// The number multiplied by the factor and rounded; nil when the result doesn't fit.
  private static func scaled(_ number: Double?, _ factor: Double) -> Int? {
    number.flatMap { Int(exactly: ($0 * factor).rounded()) }
  }
}

extension DecodedMessage {
  /// How many values could be decoded but are impossible for a battery or a status. They count as unknown.
  var impossibleValues: Int {
    values.count { value in
      guard value.value != .nothing else { return false }
      if DescribedPart.isBattery(value.name) {
        var reading = BatteryReading()
        guard let field = reading.take(value) else { return true }
        guard case .list(let list) = value.value else { return false }
        let taken = field.term.elements(in: reading.bounded).map(\.count)
        return zip(list, taken).contains { $0 != .nothing && $1 == nil }
      }
      guard value.name == "status.state" else { return false }
      return AccessoryStatus(described: [value]).state == nil
    }
  }
}

extension DescribedValue {
  /// The words of a list; nil when the value is unknown.
  fileprivate var words: [String]? {
    switch value {
    case .list(let list): list.compactMap { if case .text(let word) = $0 { word } else { nil } }
    case .text(let word): [word]
    default: nil
    }
  }
}

extension AccessoryStatus {
  /// The status that consists of these values. An accessory that reports a fault and no state is in the state `fault`.
  init(described values: [DescribedValue]) {
    self.init()
    for value in values where DescribedPart.isStatus(value.name) {
      switch (value.name.dropFirst(DescribedPart.status.count), value.value) {
      case ("state", .text(let word)):
        state = AccessoryState(word: word)
      case ("fault", let content):
        reportsFaults = content.asNumber != nil
        faultCode = content.asNumber.flatMap { UInt16(exactly: $0) }.flatMap { $0 == 0 ? nil : $0 }
      case ("progress", let content):
        progress = content.asNumber.flatMap { Int(exactly: $0.rounded()) }.flatMap { (0...100).contains($0) ? $0 : nil }
      default: break
      }
    }
    if state == nil, faultCode != nil { state = .fault }
  }
}

extension AccessoryIdentity {
  /// The identity that consists of these values.
  init(described values: [DescribedValue]) {
    self.init()
    for value in values where DescribedPart.isIdentity(value.name) {
      let text: String
      switch value.value {
      case .text(let own): text = own
      case .whole(let number): text = "\(number)"
      case .number(let number): text = "\(number)"
      case .bytes(let bytes): text = Hexadecimal.string(bytes)
      case .list, .flag, .nothing: continue
      }
      switch value.name.dropFirst(DescribedPart.identity.count) {
      case "manufacturer": manufacturer = text
      case "name": name = text
      case "model": model = text
      case "serial": serialNumber = text
      case "firmware": firmwareRevision = text
      default: hardwareRevision = text
      }
    }
  }
}

extension AccessoryValue {
  /// The values that aren't part of a reading, in order. Each number of a list becomes a value of its own, with "_1",
  /// "_2" and so on after the list's name. `importance` is the description's.
  static func all(
    described reported: [DescribedValue], derived: [DescribedValue], importance: [String: Importance] = [:]
  ) -> [AccessoryValue] {
    var values: [AccessoryValue] = []
    for (group, isDerived) in [(reported, false), (derived, true)] {
      for value in group where !value.isHidden {
        if DescribedPart.isValue(value.name) { values += all(value, isDerived, importance[value.name]) }
      }
    }
    return Array(values.prefix(ReadingLimits.values))
  }

  private static func all(
    _ value: DescribedValue, _ isDerived: Bool, _ importance: Importance?
  ) -> [AccessoryValue] {
    let name = value.name.replacing(".", with: "_").replacing("-", with: "_")
    let unit = value.unit.map { MeasurementUnit(rawValue: $0) }
    let quantity = value.quantity.map { Quantity(rawValue: $0) } ?? unit.flatMap { Vocabulary.quantity(impliedBy: $0) }
    func made(_ name: String, _ content: Content?) -> AccessoryValue {
      AccessoryValue(
        name, quantity: quantity, unit: unit, role: value.role.map { Role(rawValue: $0) }, content: content,
        isDerived: isDerived, importance: importance
      ).bounded
    }
    switch value.value {
    case .list(let list):
      let words = list.compactMap { if case .text(let word) = $0 { word } else { nil } }
      if words.count == list.count {
        return [made(name, .text(words.isEmpty ? "none" : words.joined(separator: ", ")))]
      }
      return list.enumerated().map { made("\(name)_\($0 + 1)", content($1, nil)) }
    default: return [made(name, content(value.value, value.raw))]
    }
  }

  private static func content(_ value: PlainValue, _ raw: Int?) -> Content? {
    switch value {
    case .whole(let number): .number(Double(number))
    case .number(let number): .number(number)
    case .text(let text): raw.map { .choice(word: text, number: $0) } ?? .text(text)
    case .flag(let flag): .flag(flag)
    case .bytes(let bytes): .text(Hexadecimal.string(bytes))
    case .list, .nothing: nil
    }
  }
}
