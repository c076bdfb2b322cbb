// SPDX-License-Identifier: Apache-2.0

/// Checks the numbers of an accessory's events, to count missing events and duplicates.
struct EventNumbers: Sendable {
  enum Place: Sendable, Equatable {
    /// A new event; `missing` events before it didn't arrive.
    case new(missing: UInt16)
    /// An event that has arrived before.
    case double
    /// The number is older than the last one, yet not one of the last few: the accessory counts from the start again.
    case restarted
  }

  private var recent: [UInt16] = []
  private static let memory = 16

  mutating func place(_ number: UInt16) -> Place {
    guard let last = recent.last else {
      recent = [number]
      return .new(missing: 0)
    }
    if recent.contains(number) { return .double }
    if recent.count == Self.memory { recent.removeFirst() }
    recent.append(number)
    let missing = number &- last &- 1
    return missing < 0x8000 ? .new(missing: missing) : .restarted
  }

  mutating func forget() { recent = [] }
}
