// SPDX-License-Identifier: Apache-2.0

/// Who is called for which token. A token names a place in an array and how often that place had been given away before:
/// so a handler is found without hashing, which took as long as all else that the loop does for an event, and a token
/// that is over finds nothing.
struct HandlerTable: Sendable {
  private struct Place: Sendable {
    var uses: UInt32 = 0
    var handler: (any EventHandler)?
  }

  private var places: [Place] = []
  private var free: [Int] = []

  /// Keeps `handler` until its token is removed.
  mutating func add(_ handler: any EventHandler) -> EventToken {
    let index = free.popLast() ?? places.count
    if index == places.count { places.append(Place()) }
    places[index].handler = handler
    return EventToken(rawValue: UInt64(places[index].uses) << 32 | UInt64(index))
  }

  /// Forgets the handler and returns it, for the caller to let go where that may call back.
  mutating func remove(_ token: EventToken) -> (any EventHandler)? {
    guard let index = index(of: token) else { return nil }
    let handler = places[index].handler
    places[index].handler = nil
    places[index].uses &+= 1
    free.append(index)
    return handler
  }

  /// The handler, unless it was removed.
  subscript(token: EventToken) -> (any EventHandler)? { index(of: token).flatMap { places[$0].handler } }

  private func index(of token: EventToken) -> Int? {
    let index = Int(token.rawValue & UInt64(UInt32.max))
    guard index < places.count, places[index].uses == UInt32(truncatingIfNeeded: token.rawValue >> 32),
      places[index].handler != nil
    else { return nil }
    return index
  }
}
