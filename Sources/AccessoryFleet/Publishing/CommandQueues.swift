// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Commands from the broker, queued for each accessory and performed one after another.
struct CommandQueues: Sendable {
  typealias Work = @Sendable () async -> Void

  private struct Queue: Sendable {
    var worker: Task<Void, Never>
    var waiting: [Work] = []
  }

  private var queues: [TopicLevel: Queue] = [:]
  private var rate = RateLimit(atOnce: 20, perSecond: 5)

  /// The most waiting commands for one accessory.
  private static let limit = 8

  /// Whether one more command is accepted now.
  mutating func admit(now: MonotonicTime) -> Bool { rate.admit(now: now) }

  /// Queues a command for an accessory. If none is running, `begin` creates the task that performs the queue.
  mutating func add(
    _ work: @escaping Work, for level: TopicLevel, begin: () -> Task<Void, Never>
  ) throws(AccessoryError) {
    guard let queue = queues[level] else {
      queues[level] = Queue(worker: begin())
      return
    }
    guard queue.waiting.count < Self.limit else {
      throw AccessoryError(.busy, "too many commands wait for \(level): try again later")
    }
    queues[level]!.waiting.append(work)
  }

  /// The next command for an accessory; nil if there is none. Its task then ends.
  mutating func next(of level: TopicLevel) -> Work? {
    guard !Task.isCancelled, let queue = queues[level], !queue.waiting.isEmpty else {
      queues[level] = nil
      return nil
    }
    return queues[level]!.waiting.removeFirst()
  }

  /// Ends all tasks.
  func cancel() { for queue in queues.values { queue.worker.cancel() } }
}
