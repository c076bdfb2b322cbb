// SPDX-License-Identifier: Apache-2.0

/// A time on the kernel's `CLOCK_MONOTONIC`, or where documented on its `CLOCK_BOOTTIME`, in nanoseconds since an
/// arbitrary start. Setting the system's clock doesn't change it.
public struct MonotonicTime: Comparable, Hashable, Sendable {
  /// Nanoseconds since the clock's start.
  public var nanoseconds: Int64

  /// The time this many nanoseconds after the clock's start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// True when `a` is earlier than `b`.
  public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The time `duration` later; saturates at the last possible time.
  public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let added = duration.inNanoseconds
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(added)
    return MonotonicTime(nanoseconds: overflow ? (added < 0 ? .min : .max) : sum)
  }

  /// The time from `b` to `a`.
  public static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
    .nanoseconds(a.nanoseconds) - .nanoseconds(b.nanoseconds)
  }
}

extension Duration {
  /// Whole nanoseconds; saturates at about 292 years.
  public var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooLongBySome) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isTooLong || isTooLongBySome ? (seconds < 0 ? .min : .max) : sum
  }

  /// Whole milliseconds, rounded towards zero; saturates at the limits of the type.
  package var inMilliseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
    let (sum, isTooLongBySome) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return Int(clamping: isTooLong || isTooLongBySome ? (seconds < 0 ? .min : .max) : sum)
  }
}
