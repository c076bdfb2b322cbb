// SPDX-License-Identifier: Apache-2.0

/// The positions of frames that a scanner has delivered on silence, from behind an unfinished frame.
package struct DeliveredFrames: Sendable {
  /// In rising order.
  @usableFromInline var positions: [Int] = []

  package init() {}

  /// Whether no frame was delivered in this way.
  @inlinable package var isEmpty: Bool { positions.isEmpty }

  /// Notes the frame at `position`. Returns false if it was noted before.
  package mutating func insert(_ position: Int) -> Bool {
    let mark = index(from: position)
    if mark < positions.count, positions[mark] == position { return false }
    positions.insert(position, at: mark)
    return true
  }

  /// Whether the frame at `position` was delivered already. Forgets the frames before it.
  package mutating func take(_ position: Int) -> Bool {
    positions.removeFirst(index(from: position))
    return positions.first == position
  }

  package mutating func removeAll() { positions.removeAll() }

  /// The index of the first frame at or behind `position`.
  private func index(from position: Int) -> Int {
    var low = 0
    var high = positions.count
    while low < high {
      let middle = (low + high) / 2
      if positions[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
