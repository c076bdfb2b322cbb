// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import AccessorySharing
import AccessoryTesting
import FamilyAF1

/// The device of a hub that is fuzzed, and what it must get.
final class SharedFuzzDevice {
  let transport: MemoryTransport
  /// How many records it has sent.
  private(set) var recordCount: Int
  private let byFrames: Bool
  private let got: Shared<[UInt8]>
  private var rest: [UInt8] = []
  private var last: [Int: Int] = [:]
  private var codec = AF1Codec(maximumPayload: 65_535)
  private var requests: [(AF1Header, [UInt8])] = []
  private var eventNumber: UInt16

  /// A device; with `before` it continues the numbers of the one that was unplugged.
  init(byFrames: Bool, after before: SharedFuzzDevice? = nil) {
    (recordCount, eventNumber) = (before?.recordCount ?? 0, before?.eventNumber ?? 0)
    self.byFrames = byFrames
    let got = Shared<[UInt8]>([])
    self.got = got
    transport = MemoryTransport(label: "device", outputHighWater: 2_048) { _, bytes in got.withLock { $0 += bytes } }
  }

  /// Sends a record, an answer, an event or noise. Returns the number of bytes.
  func send(kind: UInt8, choice: Int, count: Int) -> Int {
    // The hub may have stopped reading: a device whose line is full sends no more.
    guard transport.input.count < 65_536 else { return 0 }
    let bytes = byFrames ? answer(kind, choice, count) : FuzzRecord(0, recordCount, length: count).bytes
    if !byFrames {
      guard recordCount < 65_535 else { return 0 }
      recordCount += 1
    }
    if !bytes.isEmpty { transport.receive(bytes) }
    return bytes.count
  }

  private func answer(_ kind: UInt8, _ choice: Int, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    switch kind {
    case 0:
      eventNumber += 1
      let payload = [UInt8(eventNumber >> 8), UInt8(eventNumber & 255)] + [UInt8](repeating: 1, count: count)
      try? codec.encode(.event(.battery, number: eventNumber), payload: payload, into: &bytes)
      return bytes
    case 1: return [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 1 + count / 16)
    default: break
    }
    guard !requests.isEmpty else { return [] }
    let index = choice % requests.count
    // Some are answered twice.
    let (header, payload) = kind == 2 ? requests[index] : requests.remove(at: index)
    try? codec.encode(.reply(to: header), payload: payload, into: &bytes)
    if kind == 3 { bytes[count % bytes.count] ^= 0x11 }
    return bytes
  }

  /// Checks what has come since the last call.
  func check(writers: SharingRules.Writers) {
    let bytes = got.withLock { got in
      defer { got = [] }
      return got
    }
    precondition(writers != .none || bytes.isEmpty, "nobody may write")
    if byFrames { return takeRequests(bytes) }
    rest += bytes
    while let record = FuzzRecord(taking: &rest) {
      let before = last[record.sender] ?? -1
      precondition(record.index > before, "a record comes twice, or behind a later one")
      // From the first on, and while the same device is there, nothing is lost.
      precondition(
        writers != .many || last[record.sender] == nil || record.index == before + 1, "what a client sent is missing")
      last[record.sender] = record.index
    }
    precondition(rest.isEmpty, "a record isn't whole")
  }

  private func takeRequests(_ bytes: [UInt8]) {
    var batch = FrameBatch<AF1Header>()
    codec.decode(bytes.span.bytes, into: &batch)
    precondition(codec.counters.skippedBytes == 0, "the device gets what is no frame")
    for index in 0..<batch.count {
      let (header, payload) = (batch.header(at: index), batch.payloadBytes(at: index))
      if header.command == .hello {
        var reply: [UInt8] = []
        var bytes: [UInt8] = []
        AF1HelloReply(bootID: 7, largestPayload: 65_535, window: 2).encode(into: &reply)
        try? codec.encode(.reply(to: header), payload: reply, into: &bytes)
        transport.receive(bytes)
      } else if header.flags.contains(.replyWanted) {
        requests.append((header, payload))
      }
    }
    // The oldest ones are never answered.
    if requests.count > 200 { requests.removeFirst(100) }
  }
}
