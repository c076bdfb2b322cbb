// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// A search for the units on one line: the known ones, and the numbers to try next. Its owner does the asking and the
/// timing.
struct UnitSearch {
  /// The time between two numbers that are asked when all were asked once.
  static let pause = Duration.seconds(30)
  /// The time until a line is tried again that can't be opened, or is lent.
  static let retry = Duration.seconds(60)

  /// Which search it is: another one for the same line may come after it.
  let key: Int
  let line: Device
  /// The profile that somebody chose, whatever fits; nil: the one that fits.
  let chosenProfile: String?
  /// Somebody asked for it; otherwise a profile did.
  let isByHand: Bool
  /// What passes the line, also before there is an attachment.
  let taps: TapHub
  private let numbers: [Int]
  /// Those that have answered, in their order: they stay, also when they keep silent later.
  private(set) var found: [Int] = []
  /// Where the search goes on.
  private var next = 0
  /// All numbers were asked once.
  private(set) var isComplete = false
  /// What asks.
  var task: Task<Void, Never>?
  var timer: TimerToken?

  /// A search among these numbers.
  init(
    _ key: Int, _ line: Device, _ numbers: ClosedRange<Int>, taps: TapHub, chosenProfile: String? = nil,
    isByHand: Bool = false
  ) {
    (self.key, self.line, self.numbers, self.taps) = (key, line, Array(numbers), taps)
    (self.chosenProfile, self.isByHand) = (chosenProfile, isByHand)
  }

  /// The accessories that were found.
  var accessories: [Device] { found.map { line.onLine(unit: $0) } }

  /// The numbers to be asked now: all at first, then one at a time; none of those that are known.
  mutating func take() -> [Int] {
    guard isComplete else { return numbers.filter { !found.contains($0) } }
    for _ in numbers.indices {
      let number = numbers[next]
      next = (next + 1) % numbers.count
      if !found.contains(number) { return [number] }
    }
    return []
  }

  /// A unit with this number has answered; false if it was known already.
  mutating func add(_ unit: Int) -> Bool {
    guard !found.contains(unit) else { return false }
    found = (found + [unit]).sorted()
    return true
  }

  /// What was taken was asked; with an error it was not, or not all of it.
  mutating func ended(_ error: AccessoryError?) { if error == nil { isComplete = true } }
}
