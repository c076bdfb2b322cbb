// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Loses and damages the frames of a host on their way to the accessory.
struct RequestSpoiler: Sendable {
  private var line: FaultyLine
  private var codec = AF1Codec(maximumPayload: Int(UInt16.max))
  private var batch = FrameBatch<AF1Header>()

  /// Nil when nothing is to happen to the host's frames.
  init?(_ faults: Faults, seed: UInt64) {
    guard faults.dropRequests + faults.corruptRequests > 0 else { return nil }
    // Other numbers than those of the accessory's own frames.
    line = FaultyLine(faults: faults.ofRequests, random: SeededGenerator(seed: ~seed))
  }

  /// Another host, which begins anew.
  mutating func reset() { codec.reset() }

  /// Replaces bytes as they were sent by what arrives of them: whole frames, each spoiled or not.
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
