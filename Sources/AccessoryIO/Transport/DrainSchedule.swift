// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a close does with bytes that the device hasn't taken.
package enum Closing: Sendable {
  /// Drops them, as when a cable is pulled.
  case atOnce
  /// Waits for them, within limits. `unsent` tells how many the kernel still holds; it is called on the I/O thread and
  /// must not block. `hasLine` when they take the time of a line from there.
  case inOrder(unsent: @Sendable () -> Int, hasLine: Bool)

  /// Whether bytes take the time of a line after they are written.
  var hasLine: Bool { if case .inOrder(_, let hasLine) = self { hasLine } else { false } }
}

/// How long a close waits for queued bytes to be sent, and when it checks again. A value that is given the time.
///
/// It ends in any case: half a second after the time that the line needs, and at most after five seconds.
struct DrainSchedule: Sendable {
  private let timing: LineTiming
  private let limit: MonotonicTime
  /// When the hardware has sent what the kernel gave it; known when the kernel has nothing more.
  private var sent: MonotonicTime?

  /// Time beyond that of the line: for adapters that pass bytes on in batches, and for a device that makes us pause.
  private static let patience = Duration.milliseconds(500)
  private static let longest = Duration.seconds(5)
  /// The kernel is asked no more often and no less often than this. Its answer costs next to nothing, but a USB
  /// adapter may be much faster than its line is said to be.
  private static let interval = (shortest: Duration.milliseconds(2), longest: Duration.milliseconds(20))
  /// Bytes that hardware holds which the kernel no longer counts: the FIFOs of UARTs have 16 to 128, those of USB
  /// adapters up to about 256.
  private static let hardwareBuffer = 256

  /// A close at `now`, with `waiting` bytes to go.
  init(timing: LineTiming, now: MonotonicTime, waiting: Int) {
    self.timing = timing
    limit = now + min(Self.patience + timing.time(of: waiting), Self.longest)
  }

  /// When to look again; nil when it is time to close. `unwritten` bytes wait for the kernel, `unsent` ones in it, and
  /// at full speed the line would be busy until `lineBusyUntil`.
  mutating func nextLook(
    now: MonotonicTime, unwritten: Int, unsent: Int, lineBusyUntil: MonotonicTime?
  ) -> MonotonicTime? {
    guard now < limit else { return nil }
    if unwritten > 0 { return limit }  // the event queue tells when the kernel takes more
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
