// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import FamilyAF1

@testable import AccessorySharing

/// A client of a hub that is fuzzed, and what it must get.
///
/// By bytes, the device and the clients send records, which have a number and a length. By frames, clients make AF1 requests, and the
/// reply has what the request had.
final class SharedFuzzClient {
  let name: Int
  var id: HubClient.ID = 0
  let transport: MemoryTransport
  var isStalled = false
  /// The number of the next record that the device sends to this client; nil before the first. The first one may be older than the
  /// client: a hub that is held back reads it later.
  private var nextRecord: Int?
  /// How many records the device had sent when the client joined.
  private let recordsBefore: Int
  private let got: Shared<[UInt8]>
  private var rest: [UInt8] = []
  private var sentRecords = 0
  private var codec = AF1Codec(maximumPayload: 65_535)
  private var number: UInt16 = 0
  private var unanswered: [UInt16: [UInt8]] = [:]
  private var lastEvent = -1

  init(_ name: Int, recordsBefore: Int) {
    (self.name, self.recordsBefore) = (name, recordsBefore)
    let got = Shared<[UInt8]>([])
    self.got = got
    transport = MemoryTransport(label: "\(name)", outputHighWater: 1_024) { _, bytes in got.withLock { $0 += bytes } }
  }

  /// Sends a request, a record, or something that is none. Returns the number of bytes.
  func send(kind: UInt8, count: Int, byFrames: Bool) -> Int {
    let bytes = byFrames ? madeFrame(kind, count) : FuzzRecord(name, sentRecords, length: count).bytes
    sentRecords += 1
    transport.receive(bytes)
    return bytes.count
  }

  private func madeFrame(_ kind: UInt8, _ count: Int) -> [UInt8] {
    number &+= 1
    let payload =
      [UInt8(truncatingIfNeeded: name), UInt8(number >> 8), UInt8(number & 255)]
      + [UInt8](repeating: 0x5A, count: count)
    var bytes: [UInt8] = []
    switch kind {
    case 0: bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 1 + count / 16)
    case 1:
      var hello: [UInt8] = []
      AF1HelloRequest(nonce: UInt32(count)).encode(into: &hello)
      try? codec.encode(.request(.hello, number: number), payload: hello, into: &bytes)
    default:
      try? codec.encode(.request(.echo, number: number), payload: payload, into: &bytes)
      // Half a frame, and a damaged one, get no reply with this payload.
      if kind == 2 {
        bytes.removeLast(1 + count % (bytes.count - 1))
      } else if kind == 3 {
        bytes[count % bytes.count] ^= 0x11
      } else {
        unanswered[number] = payload
      }
    }
    return bytes
  }

  /// Checks what has come since the last call. With `mayMiss` there may be gaps between records.
  func check(byFrames: Bool, mayMiss: Bool) {
    let bytes = got.withLock { got in
      defer { got = [] }
      return got
    }
    if byFrames { return checkFrames(bytes) }
    rest += bytes
    while let record = FuzzRecord(taking: &rest) {
      precondition(record.sender == 0, "a client gets what another one sent")
      precondition(record.index >= nextRecord ?? 0, "a record comes twice, or behind a later one")
      precondition(
        mayMiss || (nextRecord.map { record.index == $0 } ?? (record.index <= recordsBefore)), "a record is missing")
      nextRecord = record.index + 1
    }
  }

  /// Whether it has all records of a device that has sent so many.
  func hasAll(_ count: Int) -> Bool { (nextRecord ?? recordsBefore) == count }

  private func checkFrames(_ bytes: [UInt8]) {
    var batch = FrameBatch<AF1Header>()
    codec.decode(bytes.span.bytes, into: &batch)
    precondition(codec.counters.skippedBytes == 0, "a client gets what is no frame")
    for index in 0..<batch.count {
      let (header, payload) = (batch.header(at: index), batch.payloadBytes(at: index))
      if header.flags.contains(.event) {
        let event = Int(payload[0]) << 8 | Int(payload[1])
        precondition(event > lastEvent, "an event comes twice, or behind a later one")
        lastEvent = event
      } else if !header.flags.contains(.refused), header.command == .echo {
        precondition(unanswered.removeValue(forKey: header.number) == payload, "a reply is not its own")
      }
    }
  }
}

/// Bytes with a sender, a number and a length: 0 sends for the device.
struct FuzzRecord {
  let sender: Int
  let index: Int
  private let length: Int

  init(_ sender: Int, _ index: Int, length: Int) { (self.sender, self.index, self.length) = (sender, index, length) }

  var bytes: [UInt8] {
    [0xA5, sender, index >> 8, index, length >> 8, length].map { UInt8(truncatingIfNeeded: $0) }
      + [UInt8](repeating: UInt8(truncatingIfNeeded: sender), count: length)
  }

  /// Takes a whole record from the beginning of `bytes`; nil while there is none.
  init?(taking bytes: inout [UInt8]) {
    guard bytes.count >= 6 else { return nil }
    precondition(bytes[0] == 0xA5, "a record isn't whole")
    let length = Int(bytes[4]) << 8 | Int(bytes[5])
    guard bytes.count >= 6 + length else { return nil }
    self.init(Int(bytes[1]), Int(bytes[2]) << 8 | Int(bytes[3]), length: length)
    let filling = bytes[6..<(6 + length)]
    precondition(filling.allSatisfy { $0 == bytes[1] }, "records are mixed up")
    bytes.removeFirst(6 + length)
  }
}
