// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// The last replies of an AF1 accessory, which are sent again when a request is repeated.
struct KeptReplies: Sendable {
  private struct Key: Hashable, Sendable {
    var number: UInt16
    var command: AF1Command
    var checksum: UInt32
  }

  private struct Entry: Sendable {
    var key: Key
    var answer: (header: AF1Header, payload: [UInt8])
    var time: MonotonicTime
  }

  private var entries: [Entry] = []
  /// The most replies that are kept: the window in the reply to HELLO.
  private let capacity: Int
  /// How long a reply is kept, according to the AF1 specification.
  private static let lifetime = Duration.seconds(10)

  init(capacity: Int) { self.capacity = capacity }

  func reply(to header: AF1Header, _ payload: [UInt8], now: MonotonicTime) -> (AF1Header, [UInt8])? {
    let key = Self.key(header, payload)
    return entries.first { $0.key == key && now - $0.time < Self.lifetime }?.answer
  }

  mutating func keep(_ answer: (AF1Header, [UInt8]), to header: AF1Header, _ payload: [UInt8], now: MonotonicTime) {
    if entries.count == capacity { entries.removeFirst() }
    entries.append(Entry(key: Self.key(header, payload), answer: answer, time: now))
  }

  mutating func forget() { entries = [] }

  private static func key(_ header: AF1Header, _ payload: [UInt8]) -> Key {
    Key(number: header.number, command: header.command, checksum: CRC32.checksum(of: payload.span.bytes, .crc32ISOHDLC))
  }
}
