// SPDX-License-Identifier: Apache-2.0

/// Counters of a pair of endpoints since it was opened.
public struct USBCounters: Sendable, Hashable {
  /// IN transfers that delivered bytes or a message.
  public var received = 0
  /// OUT transfers that the device took completely.
  public var sent = 0
  /// Transfers that failed while the device stayed connected, and were repeated.
  public var failures = 0
  /// How often transfers failed and then worked again: electrical noise, or a slow device.
  public var glitches = 0
  /// How often an endpoint had halted and was cleared.
  public var stalls = 0
  /// How often no IN transfer was with the kernel although the consumer kept up. Normally 0.
  public var starvations = 0
  /// How often reading paused because the consumer was slow.
  public var pauses = 0
}
