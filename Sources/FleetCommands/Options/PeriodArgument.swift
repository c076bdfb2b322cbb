// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A period on the command line: "0s", "90s", "30m", "12h", "7d".
struct PeriodArgument: Sendable {
  static let form = "a time with its unit, like 30m, 12h or 7d"
  let duration: Duration

  init?(argument: String) {
    let units: [(suffix: Character, seconds: Double)] = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)]
    guard let unit = units.first(where: { argument.last == $0.suffix }), let count = Double(argument.dropLast()),
      count >= 0, count * unit.seconds <= 1e9
    else { return nil }
    duration = .seconds(count * unit.seconds)
  }

  /// Reads the argument, as the transformation of an `@Option`.
  static func read(_ text: String) throws -> PeriodArgument {
    guard let period = PeriodArgument(argument: text) else { throw ValidationError("expected \(form)") }
    return period
  }
}
