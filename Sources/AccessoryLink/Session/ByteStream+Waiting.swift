// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension ByteStream.Iterator {
  /// The next piece, or an empty array when none has come by `deadline`. Throws `cancelled` when the task is cancelled
  /// or the session closed, and otherwise the errors of `next`.
  package mutating func next(
    until deadline: MonotonicTime, clock: any TimerClock
  ) async throws(AccessoryError) -> [UInt8] {
    let timer = clock.schedule(at: deadline) { [signal = input.signal] in signal.raise() }
    defer { clock.cancel(timer) }
    let lease = try input.lease.get()
    try lease.beginTaking()
    defer { lease.endTaking() }
    var buffer: [UInt8] = []
    while !Task.isCancelled {
      switch input.queue.take(into: &buffer) {
      case .bytes: return buffer
      case .end(let error): throw error ?? .closed(lease.session.label)
      case .nothing:
        if clock.now >= deadline { return [] }
        await input.signal.wait()
      }
    }
    throw AccessoryError(.cancelled, "waiting for \(lease.session.label) was cancelled")
  }
}
