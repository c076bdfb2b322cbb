// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import HeapModule

/// Scheduled actions, earliest first. This type reads no clock; the caller passes the current time.
struct TimerQueue: Sendable {
  private struct Entry: Comparable, Sendable {
    var deadline: MonotonicTime
    var id: UInt64
    static func < (a: Entry, b: Entry) -> Bool { (a.deadline, a.id) < (b.deadline, b.id) }
  }

  private var heap = Heap<Entry>()
  private var actions: [UInt64: @Sendable () -> Void] = [:]
  private var nextID: UInt64 = 0

  /// The number of entries, including cancelled ones.
  var entryCount: Int { heap.count }

  /// Whether all actions were done or cancelled.
  var isEmpty: Bool { actions.isEmpty }

  /// The time of the earliest action that isn't cancelled.
  var earliest: MonotonicTime? {
    mutating get {
      while let first = heap.min {
        if actions[first.id] != nil { return first.deadline }
        heap.removeMin()
      }
      return nil
    }
  }

  mutating func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let id = nextID
    nextID += 1
    actions[id] = action
    heap.insert(Entry(deadline: deadline, id: id))
    return TimerToken(rawValue: id)
  }

  mutating func cancel(_ token: TimerToken) {
    guard actions.removeValue(forKey: token.rawValue) != nil else { return }
    // Cancelled entries stay in the heap until their deadline. This removes them when they are the majority.
    if heap.count > 2 * actions.count + 64 {
      heap = Heap(heap.unordered.filter { actions[$0.id] != nil })
    }
  }

  /// Removes and returns the next action that is due.
  mutating func popDue(at now: MonotonicTime) -> (@Sendable () -> Void)? {
    while let first = heap.min, first.deadline <= now {
      heap.removeMin()
      if let action = actions.removeValue(forKey: first.id) { return action }
    }
    return nil
  }
}
