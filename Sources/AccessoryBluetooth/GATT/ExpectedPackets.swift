// SPDX-License-Identifier: Apache-2.0

/// How many packets a transport reads for one event of its socket. A read that finds nothing costs as much as one that finds a
/// packet, and so does asking for the next event.
struct ExpectedPackets {
  private var last = 1
  private var writtenCount = 0

  /// The most for one event: all that the socket takes. bluetoothd drops notifications that it has no room for there.
  static let limit = 512

  /// A packet was written, which the device may answer.
  mutating func wrote() { writtenCount = min(writtenCount + 1, Self.limit) }

  /// How many to read now: the answers to what was written, or what the last event promises.
  mutating func next() -> Int {
    defer { writtenCount = 0 }
    return writtenCount > 0 ? writtenCount : last
  }

  /// So many have come. If there may be more, the next event comes at once.
  mutating func found(_ count: Int, andNoMore: Bool) { last = max(1, andNoMore ? count : min(2 * count, Self.limit)) }
}
