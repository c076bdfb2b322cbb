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
