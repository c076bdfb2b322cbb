// SPDX-License-Identifier: Apache-2.0

/// A handler of a queue. The queue reads it under its lock and calls it outside. It is a struct, because a closure that
/// a generic function like `withLock` returns is wrapped in another heap allocation each time.
struct QueueHandler: Sendable {
  let call: @Sendable () -> Void

  init(_ call: @escaping @Sendable () -> Void) { self.call = call }
}

/// The observer of a queue's bytes, a struct for the same reason.
struct QueueTap: Sendable {
  let call: InputQueue.Tap
}
