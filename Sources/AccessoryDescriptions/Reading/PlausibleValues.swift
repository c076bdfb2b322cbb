// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Numbers that can't be are unknown.

extension PlainValue {
  /// The value with its numbers within a range; `nothing` for one that can't be.
  func told(within range: PlausibleRange) -> PlainValue {
    if case .list(let list) = self { return .list(list.map { $0.told(within: range) }) }
    guard let number = asNumber else { return self }
    guard let told = range.told(number) else { return .nothing }
    return told == number ? self : .number(told)
  }

  /// The value itself, or the elements of a list, without those that aren't known.
  fileprivate var knownParts: [PlainValue] {
    if case .list(let list) = self { list.filter { $0 != .nothing } } else { self == .nothing ? [] : [self] }
  }
}

extension DecodedMessage {
  /// Makes numbers unknown that can't be, and counts them. One of `fillers` stands for a value that the accessory doesn't know, so it is
  /// no evidence against the others.
  mutating func keepPlausible(_ plausible: [String: PlausibleRange], fillers: [String: Set<Double>]) {
    guard !plausible.isEmpty else { return }
    for place in values.indices {
      let value = values[place]
      guard let range = plausible[value.name] else { continue }
      let told = value.value.told(within: range)
      let known = value.value.knownParts
      if told != value.value {
        values[place].value = told
        problemCount += known.count - told.knownParts.count
      }
      let meant = known.filter { part in part.asNumber.map { fillers[value.name]?.contains($0) != true } ?? false }
      let wrong = meant.filter { $0.told(within: range) == .nothing }
      plausibility.note(
        value.name, known: meant.count, wrong: wrong.count,
        first: wrong[0].asExampleText + (value.unit.map { " \($0)" } ?? ""))
    }
  }
}

extension ProtocolDescription {
  /// For each value with bounds, the numbers that mean "unknown" in many accessories and can't be in this one: those of which all bits
  /// are 0 or 1, and the ends of the range of a signed number.
  var fillers: [String: Set<Double>] {
    var fillers: [String: Set<Double>] = [:]
    for field in messages.flatMap(\.fields) {
      guard let range = plausible[field.name], case .number(let format) = field.type, format.encoding != .float,
        field.formula.linear != nil
      else { continue }
      let count = min(62, field.bits?.count ?? 8 * format.byteCount)
      let (all, half) = (1 << count, 1 << (count - 1))
      for raw in [0, all - 1, all - 2, all - 3, half - 1, half, -half] {
        guard let number = field.meaning(of: raw).asNumber, range.told(number) == nil else { continue }
        fillers[field.name, default: []].insert(number)
      }
    }
    return fillers
  }
}
