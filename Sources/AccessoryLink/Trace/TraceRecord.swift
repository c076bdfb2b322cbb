// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Bytes that passed a transport together, with the time.
public struct TraceRecord: Sendable, Hashable {
  /// Time since the trace began.
  public var time: Duration
  /// The direction in which they passed.
  public var direction: ByteDirection
  /// The bytes. Empty in a record that only reports lost bytes, or that shows only that time has passed.
  public var bytes: [UInt8]
  /// How many bytes of both directions were dropped just before this record, because the reader was too slow.
  public var lostBytes: Int
  /// What happened on the way of the bytes, in a few words; nil in a record of bytes. One with a note has no bytes.
  public var note: String?

  /// The longest note, in bytes.
  package static let noteLimit = 1_024

  /// A record of what happened. A note that is too long is cut off.
  public init(time: Duration, note: String) {
    self.init(time: time, direction: .fromDevice, bytes: [])
    self.note = SafeText.escape(note, limit: Self.noteLimit)
  }

  /// A record with these parts.
  public init(time: Duration, direction: ByteDirection, bytes: [UInt8], lostBytes: Int = 0) {
    self.time = time
    self.direction = direction
    self.bytes = bytes
    self.lostBytes = lostBytes
  }
}
