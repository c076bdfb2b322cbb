// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Commands from other programs, queued for each accessory and performed one after another. `Name` is what the accessory is known by.
package struct CommandQueues<Name: Hashable & Sendable>: Sendable {
  package typealias Work = @Sendable () async -> Void

  private struct Queue: Sendable {
    var worker: Task<Void, Never>
    var waiting: [Work] = []
  }

  private var queues: [Name: Queue] = [:]
  private var rate = RateLimit(atOnce: 20, perSecond: 5)

  /// The most waiting commands for one accessory.
  private static var limit: Int { 8 }

  package init() {}

  /// Whether one more command is accepted now.
  package mutating func admit(now: MonotonicTime) -> Bool { rate.admit(now: now) }

  /// Queues a command for an accessory. If none is running, `begin` creates the task that performs the queue.
  package mutating func add(
    _ work: @escaping Work, for name: Name, begin: () -> Task<Void, Never>
  ) throws(AccessoryError) {
    guard let queue = queues[name] else {
      queues[name] = Queue(worker: begin())
      return
    }
    guard queue.waiting.count < Self.limit else {
      throw AccessoryError(.busy, "too many commands wait for \(name): try again later")
    }
    queues[name]!.waiting.append(work)
  }

  /// The next command for an accessory; nil if there is none. Its task then ends.
  package mutating func next(of name: Name) -> Work? {
    guard !Task.isCancelled, let queue = queues[name], !queue.waiting.isEmpty else {
      queues[name] = nil
      return nil
    }
    return queues[name]!.waiting.removeFirst()
  }

  /// Ends all tasks.
  package func cancel() { for queue in queues.values { queue.worker.cancel() } }
}
