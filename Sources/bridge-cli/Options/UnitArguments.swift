// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import CommandOutput

/// Unit numbers on the command line: "1,2,5", "1..16".
struct UnitsArgument: FormArgument {
  static let form = "unit numbers, like 1,2,5 or 1..16"
  /// In the order in which the user wrote them, without duplicates.
  let units: [Int]

  init?(argument: String) {
    var units: [Int] = []
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      let bounds = part.split(separator: ".", omittingEmptySubsequences: false)
      let (first, last): (Int?, Int?) =
        switch bounds.count {
        case 1: (UnitName.number(bounds[0]), UnitName.number(bounds[0]))
        case 3 where bounds[1].isEmpty: (UnitName.number(bounds[0]), UnitName.number(bounds[2]))
        default: (nil, nil)
        }
      guard let first, let last, first <= last, last - first < Self.limit else { return nil }
      for unit in first...last where !units.contains(unit) { units.append(unit) }
      guard units.count <= Self.limit else { return nil }
    }
    self.units = units
  }

  private static let limit = 256
}

/// A unit's additional delay on the command line: "5=300ms".
struct LateArgument: FormArgument {
  static let form = "a unit and a time with its unit, like 5=300ms"
  let unit: Int
  let delay: Duration

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = UnitName.number(parts[0]),
      let time = TimeArgument(argument: String(parts[1]))
    else { return nil }
    (self.unit, delay) = (unit, time.duration)
  }
}
