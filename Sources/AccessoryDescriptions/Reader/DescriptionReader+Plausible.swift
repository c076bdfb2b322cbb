// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

// What the numbers of values can be: by the vocabulary, and narrower where the description says so.
extension DescriptionReader {
  /// A number that is measured: its name, unit and quantity.
  private struct Measured {
    let name: String
    let unit: MeasurementUnit?
    let quantity: AccessoryValue.Quantity?

    init(_ name: String, _ unit: String?, _ quantity: String?) {
      self.name = name
      self.unit = unit.map { MeasurementUnit(rawValue: $0) }
      self.quantity = quantity.map { .init(rawValue: $0) } ?? self.unit.flatMap { Vocabulary.quantity(impliedBy: $0) }
    }

    /// The widest range. What is called `battery.…` has that of its row.
    var widest: PlausibleRange? {
      if let own = DescribedPart.ofBattery(name) { return own.term.measure?.plausible(in: unit) }
      return Vocabulary.plausible(quantity, in: unit)
    }

    /// The part of a range that is within the widest one; nil if there is none.
    func narrowed(to range: ClosedRange<Double>) -> PlausibleRange? {
      guard let widest else { return PlausibleRange(range) }
      guard widest.range.overlaps(range) else { return nil }
      return PlausibleRange(range.clamped(to: widest.range), overrun: widest.overrun)
    }

    /// The factor from the quantity's own unit.
    var factor: Double {
      guard let unit, let own = quantity.flatMap({ Vocabulary.term($0) })?.implyingUnits.first else { return 1 }
      return own.convert(difference: 1, to: unit) ?? 1
    }

    /// Whether a range of this quantity is meant for it. Those of the cells and of the pack have nothing in common.
    func measures(_ quantity: String) -> Bool {
      self.quantity?.rawValue == quantity && name != DescribedPart.battery + "cells"
    }

    /// The range where the description says nothing: the temperatures of a battery's accessory are those of the battery.
    func usual(ofBattery isOfBattery: Bool) -> PlausibleRange? {
      isOfBattery && quantity == .temperature && unit == .celsius ? Vocabulary.batteryTemperature : widest
    }
  }

  /// Reads the ranges by names of values and by quantities. Called after all values.
  mutating func plausible(_ node: YAMLNode?) {
    let all = measured
    let isOfBattery = all.contains { DescribedPart.isBattery($0.name) }
    for value in all { description.plausible[value.name] = value.usual(ofBattery: isOfBattery) }
    guard let node else { return }
    let quantities = Set(all.compactMap { $0.quantity?.rawValue }).sorted()
    // A name is more exact than a quantity, whichever is first.
    var named: Set<String> = []
    for entry in entries(node, "plausible", limit: 64) ?? [] {
      let names = all.map(\.name)
      guard
        reference(entry.key, entry.mark, "a number of this file, or its quantity", among: names + quantities) != nil,
        let range = decimals(entry.value)
      else { continue }
      if let value = all.first(where: { $0.name == entry.key }) {
        named.insert(value.name)
        description.plausible[value.name] = narrowed(value, range, entry.value.mark)
      } else {
        for value in all where value.measures(entry.key) && !named.contains(value.name) {
          let own = PlausibleRange(range).scaled(by: value.factor).range
          description.plausible[value.name] = value.narrowed(to: own) ?? value.widest
        }
      }
    }
  }

  /// The range of a value, in its unit. Reports one that is wider than the vocabulary's.
  private mutating func narrowed(
    _ value: Measured, _ range: ClosedRange<Double>, _ mark: YAMLMark
  ) -> PlausibleRange? {
    let narrowed = value.narrowed(to: range)
    if let widest = value.widest, narrowed?.range != range {
      let ends = "\(NumberText.text(widest.range.lowerBound)) to \(NumberText.text(widest.range.upperBound))"
      report(mark, "\(value.name) can be \(ends)\(value.unit.map { " \($0.rawValue)" } ?? "") at the most")
    }
    return narrowed
  }

  private mutating func decimals(_ node: YAMLNode) -> ClosedRange<Double>? {
    if case .scalar(let text) = node.content {
      let ends = Self.ends(of: text).map { $0.contains("/") ? nil : Self.fraction($0)?.value }
      if ends.count == 2, let first = ends[0], let last = ends[1], first <= last { return first...last }
    }
    report(node.mark, "a plausible range is two numbers, like -20..60 or 2.5..3.65, not \(kind(node))")
    return nil
  }

  /// All values that are numbers, each once.
  private var measured: [Measured] {
    var taken: Set<String> = []
    func isNumber(_ name: String) -> Bool { values[name]?.kind == .number && taken.insert(name).inserted }
    let fields = description.messages.flatMap(\.fields).filter { isNumber($0.name) }
    let derived = description.derived.filter { isNumber($0.name) }
    return fields.map { Measured($0.name, $0.unit, $0.quantity) }
      + derived.map { Measured($0.name, $0.unit, $0.quantity) }
  }
}
