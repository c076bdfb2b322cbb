// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// Bytes that passed a transport together, and when.
public struct TraceRecord: Sendable, Hashable {
  /// Time since the trace began.
  public var time: Duration
  /// Which way they went.
  public var direction: ByteDirection
  /// The bytes. None in a record that only tells of lost bytes, or that the time has come so far.
  public var bytes: [UInt8]
  /// How many bytes of both directions passed just before and were dropped, because the reader was too far behind.
  public var lostBytes: Int

  /// A record of these parts.
  public init(time: Duration, direction: ByteDirection, bytes: [UInt8], lostBytes: Int = 0) {
    self.time = time
    self.direction = direction
    self.bytes = bytes
    self.lostBytes = lostBytes
  }
}
