// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDescriptions
import AccessoryProtocols

// Reads the units on a line with several accessories.
extension ProfileReader {
  /// The most units in a profile.
  private static let unitLimit = 256

  /// Reads `[1, 2, 5]`, `1..16`, a list of both, a single number, or `scan`.
  mutating func units(_ node: YAMLNode, of profile: Profile) -> UnitChoice? {
    guard let driver = profile.driver else {
      report(node.mark, "units need a driver that sends them, and the profile names no driver")
      return nil
    }
    guard let range = unitRange(of: profile, driver) else {
      report(node.mark, "\(driver) has no units: leave out units")
      return nil
    }
    if node.content == .scalar("scan") { return .scan }
    let elements: [YAMLNode]
    if case .sequence = node.content {
      guard let list = list(node, "units", limit: Self.unitLimit) else { return nil }
      elements = list
    } else {
      elements = [node]
    }
    var units: [Int] = []
    for element in elements {
      guard let numbers = numbers(element, range) else { return nil }
      for unit in numbers {
        guard !units.contains(unit) else {
          report(element.mark, "unit \(unit) is given twice")
          return nil
        }
        units.append(unit)
      }
    }
    guard units.count <= Self.unitLimit else {
      report(node.mark, "a line must have 1 to \(Self.unitLimit) units, not \(units.count)")
      return nil
    }
    return .list(units.sorted())
  }

  private mutating func numbers(_ node: YAMLNode, _ range: ClosedRange<Int>) -> ClosedRange<Int>? {
    if case .scalar(let text) = node.content {
      if let number = Int(text), range.contains(number), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
        return number...number
      }
      if let numbers = DescriptionReader.range(text), range.contains(numbers.lowerBound),
        range.contains(numbers.upperBound)
      {
        return numbers
      }
    }
    let bounds = "\(range.lowerBound) to \(range.upperBound)"
    report(node.mark, "units must be [1, 2, 5], FIRST..LAST or scan, with numbers from \(bounds), not \(kind(node))")
    return nil
  }

  /// The units of the profile's driver; nil when its accessories are alone on their line.
  private func unitRange(of profile: Profile, _ driver: String) -> ClosedRange<Int>? {
    if let described = profile.described { return described.description.units?.range }
    if let known = drivers.driver(named: driver) { return known.units?.range }
    return protocols.described(driver)?.description.units?.range
  }
}
