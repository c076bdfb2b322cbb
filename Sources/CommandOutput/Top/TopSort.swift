// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser

/// The orders of the accessories in `top`.
package enum TopSort: String, Sendable, Hashable, CaseIterable, ExpressibleByArgument {
  case name, charge, age, alarm

  /// The order after this one, or before it.
  package func next(_ step: Int = 1) -> TopSort {
    let all = Self.allCases
    let place = (all.firstIndex(of: self) ?? 0) + step
    return all[(place % all.count + all.count) % all.count]
  }

  /// The number by which an accessory is sorted before its name; the smallest comes first. Unknown numbers come last, even when the
  /// order is reversed.
  func rank(_ row: TopRow) -> (isKnown: Bool, number: Int64) {
    switch self {
    case .name: (true, 0)
    case .charge: row.battery?.percent.map { (true, Int64($0)) } ?? (false, 0)
    // The newest reading first.
    case .age: row.readTime.map { (true, -max($0.nanoseconds, -.max)) } ?? (false, 0)
    case .alarm: (true, Int64(-row.severity.rawValue * 4 - Self.trouble(row)))
    }
  }

  /// What needs care besides alarms: unreachable accessories, then old readings.
  private static func trouble(_ row: TopRow) -> Int {
    switch row.reach {
    case .away: 3
    case .trying: 2
    case .attached: row.isStale ? 1 : 0
    }
  }

  /// The position of a row in the order.
  package struct Place: Sendable {
    let isKnown: Bool
    let number: Int64
    let name: String
    let index: Int
  }

  package func place(_ row: TopRow, _ index: Int) -> Place {
    let (isKnown, number) = rank(row)
    return Place(isKnown: isKnown, number: number, name: row.title, index: index)
  }

  /// Whether `a` comes before `b`.
  package func isBefore(_ a: Place, _ b: Place, isInverted: Bool) -> Bool {
    if a.isKnown != b.isKnown { return a.isKnown }
    let (first, second) = isInverted ? (b, a) : (a, b)
    if first.number != second.number { return first.number < second.number }
    // Only sorting by name reverses the names.
    let (one, other) = self == .name ? (first, second) : (a, b)
    return one.name != other.name ? one.name < other.name : a.index < b.index
  }
}
