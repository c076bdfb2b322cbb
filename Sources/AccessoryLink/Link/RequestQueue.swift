// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import DequeModule

/// A bounded queue of requests that wait to be sent, oldest first. All exchanges use it.
public struct RequestQueue<Request: Sendable>: Sendable {
  private var waiting: Deque<(id: RequestID, request: Request)> = []
  private let limit: Int
  private let overflow: Overflow

  /// A queue for at most `limit` requests, at least 1. `overflow` says which request fails when the queue is full.
  public init(limit: Int, overflow: Overflow = .refuse) {
    self.limit = max(1, limit)
    self.overflow = overflow
  }

  /// The number of waiting requests.
  public var count: Int { waiting.count }
  /// Whether no request waits.
  public var isEmpty: Bool { waiting.isEmpty }
  /// The next request to send, without removing it.
  public var first: (id: RequestID, request: Request)? { waiting.first }

  /// Adds a request. If the queue is full, either the new request or the oldest one is completed with `busy`, as
  /// `overflow` says; `label` is the accessory's name in that error.
  public mutating func admit<Reply, Event>(
    _ id: RequestID, _ request: Request, for label: String, counters: inout LinkCounters,
    effects: inout Effects<Reply, Event>
  ) {
    if waiting.count >= limit {
      let error = AccessoryError.waiting(waiting.count, for: label)
      guard overflow == .dropOldest, let oldest = waiting.popFirst() else {
        return effects.completions.append((id, .failure(error)))
      }
      counters.overflows += 1
      effects.completions.append((oldest.id, .failure(error)))
    }
    waiting.append((id, request))
  }

  /// Removes and returns the next request to send.
  public mutating func popFirst() -> (id: RequestID, request: Request)? { waiting.popFirst() }

  /// Removes a cancelled request. Returns false when it isn't in the queue.
  public mutating func remove(_ id: RequestID) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Removes all requests and returns their ids, oldest first. The caller must complete them.
  public mutating func removeAll() -> [RequestID] {
    defer { waiting = [] }
    return waiting.map(\.id)
  }
}

extension AccessoryError {
  /// The error of a request when the queue is full. `label` is the accessory's name.
  static func waiting(_ count: Int, for label: String) -> AccessoryError {
    let wait = count == 1 ? "a request waits" : "\(count) requests wait"
    return AccessoryError(.busy, "\(wait) for \(label) already: try again later")
  }
}
