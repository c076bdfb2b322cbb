// SPDX-License-Identifier: Apache-2.0

/// The error counters of a line's driver, and the number of bytes that it hasn't sent yet. A driver counts from its
/// start, an RFC 2217 client from the first call of `activity`.
public struct LineActivity: Sendable, Hashable {
  /// Received bytes that were lost, in the hardware or in the driver.
  public var overruns: UInt32
  /// Received bytes whose parity bit was wrong.
  public var parityErrors: UInt32
  /// Received bytes without a stop bit.
  public var framingErrors: UInt32
  /// Breaks that were received.
  public var breaks: UInt32
  /// Bytes in the driver's transmit buffer.
  public var unsentCount: Int

  /// Creates a value with these counts, by default 0. A counter wraps to 0 after 4,294,967,295.
  public init(
    overruns: UInt32 = 0, parityErrors: UInt32 = 0, framingErrors: UInt32 = 0, breaks: UInt32 = 0, unsentCount: Int = 0
  ) {
    (self.overruns, self.parityErrors, self.framingErrors) = (overruns, parityErrors, framingErrors)
    (self.breaks, self.unsentCount) = (breaks, unsentCount)
  }
}
