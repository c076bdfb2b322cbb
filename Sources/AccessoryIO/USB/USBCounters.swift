// SPDX-License-Identifier: Apache-2.0

/// Counters of a pair of endpoints since it was opened.
public struct USBCounters: Sendable, Hashable {
  /// IN transfers that brought something.
  public var received = 0
  /// OUT transfers that the device took whole.
  public var sent = 0
  /// Transfers that failed while the device stayed, and were repeated.
  public var failures = 0
  /// Times that transfers failed and then worked again: electrical noise, a device that was slow.
  public var glitches = 0
  /// Times that an endpoint had halted and was cleared.
  public var stalls = 0
  /// Times that no IN transfer was with the kernel although the consumer kept up. Stays 0.
  public var starvations = 0
  /// Times that the consumer had to be waited for.
  public var pauses = 0
}
