// SPDX-License-Identifier: Apache-2.0

/// The numbers of the last requests and how these ended, which distinguish late replies from duplicates.
package struct NumberHistory: Sendable {
  /// How a request ended.
  package enum Fate: Sendable {
    case answered, givenUp
  }

  private var entries: [(number: UInt16, fate: Fate)] = []
  private var next = 0
  private static let capacity = 64

  /// No numbers yet.
  package init() {}

  /// Notes how the request with this number ended.
  package mutating func record(_ number: UInt16, _ fate: Fate) {
    if entries.count < Self.capacity {
      entries.append((number, fate))
    } else {
      entries[next] = (number, fate)
      next = (next + 1) % Self.capacity
    }
  }

  /// How the last request with this number ended; nil if it isn't known any more.
  package func fate(of number: UInt16) -> Fate? { entries.last { $0.number == number }?.fate }
}

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
