// SPDX-License-Identifier: Apache-2.0

/// A bounded queue of things of several groups, such as accessories. The groups take turns, and when there are too many things, the
/// oldest one of the group that has most is dropped: so no group keeps another's from their turn.
package struct FairQueue<Group: Hashable & Sendable, Element: Sendable>: Sendable {
  private var elements: [(group: Group, element: Element)] = []
  /// The groups with elements that have had a turn, the last one at the end.
  private var served: [Group] = []
  private let limit: Int

  /// A queue of at most `limit` things.
  package init(limit: Int) { self.limit = limit }

  package var count: Int { elements.count }
  package var isEmpty: Bool { elements.isEmpty }

  /// Adds a thing. Returns whether one was dropped for it.
  package mutating func append(_ element: Element, of group: Group) -> Bool {
    elements.append((group, element))
    guard elements.count > limit, let index = Self.oldestOfMost(elements.map(\.group)) else { return false }
    elements.remove(at: index)
    return true
  }

  /// Removes and returns the oldest thing of the group whose turn it is.
  package mutating func popFirst() -> Element? {
    let turns = Dictionary(served.enumerated().map { ($1, $0) }) { $1 }
    var best: (index: Int, turn: Int)?
    for (index, one) in elements.enumerated() {
      let turn = turns[one.group] ?? -1
      if best.map({ turn < $0.turn }) ?? true { best = (index, turn) }
    }
    guard let best else { return nil }
    let (group, element) = elements.remove(at: best.index)
    served.removeAll { $0 == group }
    let left = Set(elements.map(\.group))
    served = served.filter(left.contains)
    if left.contains(group) { served.append(group) }
    return element
  }

  /// The index of the first one of the group that occurs most often; of several such groups, of the one that comes first.
  package static func oldestOfMost(_ groups: [Group]) -> Int? {
    let counts = Dictionary(groups.map { ($0, 1) }, uniquingKeysWith: +)
    guard let most = counts.values.max() else { return nil }
    return groups.firstIndex { counts[$0] == most }
  }
}
