// SPDX-License-Identifier: Apache-2.0

/// The changes in a mirror since its consumer's last look.
package struct MirrorChange: Sendable {
  package var services: [MirrorSnapshot.Service]
  /// The accessories that have changed or are new, as they are now, in the order in which they were first seen.
  package var accessories: [MirroredAccessory] = []
  /// The numbers of forgotten accessories.
  package var forgotten: [UInt64] = []

  package init(services: [MirrorSnapshot.Service], accessories: [MirroredAccessory] = []) {
    (self.services, self.accessories) = (services, accessories)
  }
}

/// The changes in a mirror, for one consumer. They are computed from the current state, so a slow consumer misses
/// intermediate states. Only the numbers of the changed accessories are stored for it.
package struct MirrorChanges: AsyncSequence, Sendable {
  package typealias Element = MirrorChange
  package typealias Failure = Never

  let mirror: ServiceMirror
  let id: UInt64
  /// Yields when there are changes; the consumer gets them with `take`.
  package let signals: AsyncStream<Void>

  /// Returns the changes since the last call at once; there may be none.
  package func take() async -> MirrorChange { await mirror.takeChange(of: id) }

  /// Begins to take changes.
  package func makeAsyncIterator() -> Iterator {
    Iterator(mirror: mirror, id: id, signals: signals.makeAsyncIterator())
  }

  /// Takes the changes one after another.
  package struct Iterator: AsyncIteratorProtocol {
    let mirror: ServiceMirror
    let id: UInt64
    var signals: AsyncStream<Void>.Iterator

    /// The next change; nil when the task is cancelled.
    package mutating func next() async -> MirrorChange? { await next(isolation: nil) }

    /// The next change; nil when the task is cancelled.
    package mutating func next(isolation actor: isolated (any Actor)?) async -> MirrorChange? {
      guard await signals.next(isolation: actor) != nil else { return nil }
      return await mirror.takeChange(of: id)
    }
  }
}
