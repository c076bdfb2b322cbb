// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// Drops and corrupts frames that a host sends to the accessory.
struct RequestSpoiler: Sendable {
  private var line: FaultyLine
  private var codec = AF1Codec(maximumPayload: Int(UInt16.max))
  private var batch = FrameBatch<AF1Header>()

  /// Returns nil when no such fault is configured.
  init?(_ faults: Faults, seed: UInt64) {
    guard faults.dropRequests + faults.corruptRequests > 0 else { return nil }
    // Another seed than for the frames of the accessory.
    line = FaultyLine(faults: faults.ofRequests, random: SeededGenerator(seed: ~seed))
  }

  /// Prepares for a new host.
  mutating func reset() { codec.reset() }

  /// Replaces the bytes that were sent by those that arrive: valid frames, some of them dropped or corrupted.
  mutating func spoil(_ bytes: inout [UInt8]) {
    let sent = bytes
    codec.decode(sent.span.bytes, into: &batch)
    bytes.removeAll(keepingCapacity: true)
    for index in 0..<batch.count where batch.outcome(at: index) == .whole {
      var frame: [UInt8] = []
      try? codec.encode(batch.header(at: index), payload: batch.payloadBytes(at: index), into: &frame)
      if let arriving = line.pass(frame) { bytes += arriving }
    }
    batch.removeAll()
  }
}
