// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How long a line is busy with what was written to it, even if its speed changes meanwhile. A value that is given the
/// time.
struct LineWork: Sendable {
  private var busyUntil: MonotonicTime?
  private var timing = LineTiming.instant

  /// `count` bytes were written at `now`, to a line of this speed.
  mutating func add(_ count: Int, _ timing: LineTiming, now: MonotonicTime) {
    busyUntil = max(end(timing, now: now) ?? now, now) + timing.time(of: count)
  }

  /// When all is sent at full speed; nil when nothing was ever written. Bytes that were not sent when the speed changed
  /// take the time of the new one.
  mutating func end(_ timing: LineTiming, now: MonotonicTime) -> MonotonicTime? {
    defer { self.timing = timing }
    guard let busyUntil, timing != self.timing, busyUntil > now, self.timing.perByte > .zero else { return busyUntil }
    let byteCount = (busyUntil - now).inNanoseconds / max(1, self.timing.perByte.inNanoseconds) + 1
    self.busyUntil = now + timing.time(of: Int(byteCount))
    return self.busyUntil
  }
}
