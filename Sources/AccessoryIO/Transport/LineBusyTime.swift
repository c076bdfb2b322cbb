// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How long a line is busy with the bytes that were written to it, even if its speed changes meanwhile. This type reads
/// no clock; the caller passes the time.
package struct LineBusyTime: Sendable {
  private var busyUntil: MonotonicTime?
  private var timing = LineTiming.instant

  /// A line to which nothing was written.
  package init() {}

  /// Adds `count` bytes that were written at `now` to a line of this speed.
  package mutating func add(_ count: Int, _ timing: LineTiming, now: MonotonicTime) {
    busyUntil = max(end(timing, now: now) ?? now, now) + timing.time(of: count)
  }

  /// When all bytes will have been sent at full speed; nil when none was ever written. Bytes that weren't sent when the
  /// speed changed are counted at the new speed.
  package mutating func end(_ timing: LineTiming, now: MonotonicTime) -> MonotonicTime? {
    defer { self.timing = timing }
    guard let busyUntil, timing != self.timing, busyUntil > now, self.timing.perByte > .zero else { return busyUntil }
    let byteCount = (busyUntil - now).inNanoseconds / max(1, self.timing.perByte.inNanoseconds) + 1
    self.busyUntil = now + timing.time(of: Int(byteCount))
    return self.busyUntil
  }
}
