// SPDX-License-Identifier: Apache-2.0

/// How many packets a transport reads for one event of its socket. A read that finds nothing costs as much as one that finds a
/// packet, and so does asking for the next event.
struct ExpectedPackets {
  private var last = 1
  private var writtenCount = 0

  /// The most packets for one event: all that fit into the socket. bluetoothd drops notifications that don't fit.
  static let limit = 512

  /// Records a written packet, which the device may answer.
  mutating func wrote() { writtenCount = min(writtenCount + 1, Self.limit) }

  /// How many packets to read now: one answer to each write, or as many as the last event suggests.
  mutating func next() -> Int {
    defer { writtenCount = 0 }
    return writtenCount > 0 ? writtenCount : last
  }

  /// Records how many packets have arrived. If there may be more, the next event comes at once.
  mutating func found(_ count: Int, andNoMore: Bool) { last = max(1, andNoMore ? count : min(2 * count, Self.limit)) }
}
