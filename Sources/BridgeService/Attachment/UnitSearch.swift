// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// A search for the units on one line: the units found, and the numbers to ask next. The owner asks them and keeps the
/// time.
struct UnitSearch {
  /// The pause between two numbers, after all were asked once.
  static let pause = Duration.seconds(30)
  /// The pause before the next try when the line can't be opened or is lent.
  static let retry = Duration.seconds(60)

  /// Identifies the search. A later search on the same line has another key.
  let key: Int
  let line: Device
  /// The name of the profile that a client chose; nil for the profile that matches the line.
  let chosenProfile: String?
  /// Whether a client asked for the search. Otherwise a profile did.
  let isByHand: Bool
  /// The listeners of the line's traffic, which also see the search itself.
  let taps: TapHub
  private let numbers: [Int]
  /// The numbers that have answered, sorted. A unit stays in the list when it stops answering.
  private(set) var found: [Int] = []
  /// The index of the number to ask next.
  private var next = 0
  /// Whether all numbers were asked once.
  private(set) var isComplete = false
  /// The task that asks.
  var task: Task<Void, Never>?
  var timer: TimerToken?

  /// A search on `line` among `numbers`.
  init(
    _ key: Int, _ line: Device, _ numbers: ClosedRange<Int>, taps: TapHub, chosenProfile: String? = nil,
    isByHand: Bool = false
  ) {
    (self.key, self.line, self.numbers, self.taps) = (key, line, Array(numbers), taps)
    (self.chosenProfile, self.isByHand) = (chosenProfile, isByHand)
  }

  /// The accessories that were found.
  var accessories: [Device] { found.map { line.onLine(unit: $0) } }

  /// The numbers to ask now: all of them at first, later one at a time. Found units are left out.
  mutating func take() -> [Int] {
    guard isComplete else { return numbers.filter { !found.contains($0) } }
    for _ in numbers.indices {
      let number = numbers[next]
      next = (next + 1) % numbers.count
      if !found.contains(number) { return [number] }
    }
    return []
  }

  /// Adds a unit that has answered; false if it was found before.
  mutating func add(_ unit: Int) -> Bool {
    guard !found.contains(unit) else { return false }
    found = (found + [unit]).sorted()
    return true
  }

  /// The numbers from `take` were asked; with an error, not all of them.
  mutating func ended(_ error: AccessoryError?) { if error == nil { isComplete = true } }
}
