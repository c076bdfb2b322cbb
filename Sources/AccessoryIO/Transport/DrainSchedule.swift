// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a close does with bytes that the device hasn't taken.
package enum Closing: Sendable {
  /// Drops them, as unplugging the cable does.
  case atOnce
  /// Waits for them, within limits. `unsent` returns how many bytes the kernel hasn't sent; it is called on the I/O
  /// thread and must not block. `hasLine` is true when these bytes take time on a serial line.
  case inOrder(unsent: @Sendable () -> Int, hasLine: Bool)

  /// Whether bytes take time on a line after they are written.
  var hasLine: Bool { if case .inOrder(_, let hasLine) = self { hasLine } else { false } }
}

/// How long a close waits for queued bytes to be sent, and when it checks again. This type reads no clock; the caller
/// passes the time.
///
/// The wait ends half a second after the time that the line needs, and after five seconds at most.
struct DrainSchedule: Sendable {
  private let timing: LineTiming
  private let limit: MonotonicTime
  /// When the hardware has sent what the kernel gave it. Known only once the kernel has no more bytes.
  private var sent: MonotonicTime?

  /// Time beyond the time of the line: for adapters that pass bytes on in batches, and for devices that use flow
  /// control.
  private static let margin = Duration.milliseconds(500)
  private static let longest = Duration.seconds(5)
  /// The limits of the time between two queries of the kernel. A query costs next to nothing, but a USB adapter may be
  /// much faster than its baud rate says.
  private static let interval = (shortest: Duration.milliseconds(2), longest: Duration.milliseconds(20))
  /// Bytes that the hardware may contain and that the kernel no longer counts: the FIFOs of UARTs have 16 to 128 bytes,
  /// those of USB adapters up to about 256.
  private static let hardwareBuffer = 256

  /// A close that begins at `now`, with `waiting` bytes to send.
  init(timing: LineTiming, now: MonotonicTime, waiting: Int) {
    self.timing = timing
    limit = now + min(Self.margin + timing.time(of: waiting), Self.longest)
  }

  /// When to check again; nil when it is time to close. `unwritten` bytes wait in this process and `unsent` bytes in
  /// the kernel. At full speed the line is busy until `lineBusyUntil`.
  mutating func nextLook(
    now: MonotonicTime, unwritten: Int, unsent: Int, lineBusyUntil: MonotonicTime?
  ) -> MonotonicTime? {
    guard now < limit else { return nil }
    if unwritten > 0 { return limit }  // the event queue reports when the kernel takes more
    if unsent > 0 {
      sent = nil
      let (shortest, longest) = Self.interval
      return min(limit, now + max(shortest, min(longest, timing.time(of: unsent))))
    }
    guard let lineBusyUntil else { return nil }
    let sent = sent ?? min(lineBusyUntil, now + timing.time(of: Self.hardwareBuffer))
    self.sent = sent
    return now < sent ? min(limit, sent) : nil
  }
}
