// SPDX-License-Identifier: Apache-2.0

/// The handlers of watched descriptors, by token. A token consists of an index into an array and the generation count
/// of that slot. So a lookup needs no hashing, which took as long as the rest of the loop's work for an event, and a
/// stale token finds no handler.
struct HandlerTable: Sendable {
  private struct Place: Sendable {
    var uses: UInt32 = 0
    var handler: (any EventHandler)?
  }

  private var places: [Place] = []
  private var free: [Int] = []

  /// Stores `handler` until its token is removed.
  mutating func add(_ handler: any EventHandler) -> EventToken {
    let index = free.popLast() ?? places.count
    if index == places.count { places.append(Place()) }
    places[index].handler = handler
    return EventToken(rawValue: UInt64(places[index].uses) << 32 | UInt64(index))
  }

  /// Removes the handler and returns it, so that the caller can release it outside the lock.
  mutating func remove(_ token: EventToken) -> (any EventHandler)? {
    guard let index = index(of: token) else { return nil }
    let handler = places[index].handler
    places[index].handler = nil
    places[index].uses &+= 1
    free.append(index)
    return handler
  }

  /// The handler of `token`; nil after it was removed.
  subscript(token: EventToken) -> (any EventHandler)? { index(of: token).flatMap { places[$0].handler } }

  private func index(of token: EventToken) -> Int? {
    let index = Int(token.rawValue & UInt64(UInt32.max))
    guard index < places.count, places[index].uses == UInt32(truncatingIfNeeded: token.rawValue >> 32),
      places[index].handler != nil
    else { return nil }
    return index
  }
}
