// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import DequeModule

/// The queue of a line with several units. Requests to one unit stay in order, and units take turns: however many
/// requests wait for one unit, every other unit gets its turn after one of them.
///
/// At most `limit` requests wait for each unit. The protocol bounds the number of units.
struct UnitQueue: Sendable {
  /// A request that waits to be sent.
  struct Entry: Sendable {
    var id: RequestID
    var request: DescribedRequest
    /// How often it was sent before it was put back.
    var tries = 0
    /// When it was sent for the first time; nil if it wasn't.
    var firstSent: MonotonicTime?
    /// It must not be sent before this time, if it was sent before.
    var earliest: MonotonicTime?
  }

  private var waiting: [Int?: Deque<Entry>] = [:]
  /// Units with waiting requests, in the order of their turns.
  private var turns: Deque<Int?> = []
  private let limit: Int

  /// A queue for at most `limit` requests to each unit, at least 1.
  init(limit: Int) { self.limit = max(1, limit) }

  /// The index, for `take`, of the first unit whose next request may be sent.
  func turn(where isReady: (Entry) -> Bool) -> Int? {
    turns.firstIndex { waiting[$0]?.first.map(isReady) ?? false }
  }

  /// The earliest time at which the next request of any unit may be sent; nil when none waits. `time` returns it for
  /// one request.
  func nextTime(_ time: (Entry) -> MonotonicTime) -> MonotonicTime? {
    turns.reduce(nil) { least, unit in
      guard let next = waiting[unit]?.first.map(time) else { return least }
      return least.map { min($0, next) } ?? next
    }
  }

  /// Whether requests wait for other units than this one.
  func hasOthers(than unit: Int?) -> Bool { turns.contains { $0 != unit } }

  /// Adds a request. Returns the error `busy` when the unit's queue is full; `label` is the unit's name in the error.
  mutating func admit(_ id: RequestID, _ request: DescribedRequest, label: String) -> AccessoryError? {
    let unit = request.unit
    let count = waiting[unit]?.count ?? 0
    guard count < limit else { return .waiting(count, for: label) }
    if count == 0 { turns.append(unit) }
    waiting[unit, default: []].append(Entry(id: id, request: request))
    return nil
  }

  /// Removes and returns the request at this turn. Its unit goes to the end of the order.
  mutating func take(_ turn: Int) -> Entry? {
    guard turns.indices.contains(turn) else { return nil }
    let unit = turns.remove(at: turn)
    // An empty queue stays, for the unit's next request.
    let entry = waiting[unit]?.popFirst()
    if waiting[unit]?.isEmpty == false { turns.append(unit) }
    return entry
  }

  /// Puts a request back, before all other requests to its unit. The unit goes to the end of the order.
  mutating func putBack(_ entry: Entry) {
    let unit = entry.request.unit
    turns.removeAll { $0 == unit }
    turns.append(unit)
    waiting[unit, default: []].prepend(entry)
  }

  /// Removes a cancelled request; nil when it isn't in the queue.
  mutating func remove(_ id: RequestID) -> Entry? {
    for unit in turns {
      guard let index = waiting[unit]?.firstIndex(where: { $0.id == id }) else { continue }
      let entry = waiting[unit]?.remove(at: index)
      if waiting[unit]?.isEmpty == true { turns.removeAll { $0 == unit } }
      return entry
    }
    return nil
  }

  /// Removes all requests and returns their ids.
  mutating func removeAll() -> [RequestID] {
    defer { (waiting, turns) = ([:], []) }
    return turns.flatMap { waiting[$0]?.map(\.id) ?? [] }
  }
}
