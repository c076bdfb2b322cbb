// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport

@testable import FamilyAF1

typealias SeededGenerator = TestSupport.SeededGenerator

/// One entry of a batch, as a value.
struct Decoded: Equatable, CustomStringConvertible {
  var outcome: FrameOutcome
  var header: AF1Header
  var payload: [UInt8]

  var description: String { "\(outcome) \(header.command) #\(header.number) n=\(header.payloadLength)" }
}

extension FrameBatch<AF1Header> {
  var all: [Decoded] {
    (0..<count).map { Decoded(outcome: outcome(at: $0), header: header(at: $0), payload: payloadBytes(at: $0)) }
  }

  var wholeNumbers: [UInt16] { all.filter { $0.outcome == .whole }.map(\.header.number) }
}

extension AF1Codec {
  mutating func decode(_ bytes: some Sequence<UInt8>, into batch: inout FrameBatch<AF1Header>) {
    let bytes = Array(bytes)
    decode(bytes.span.bytes, into: &batch)
  }

  /// Gives up unfinished frames until there is none.
  mutating func expireAll(into batch: inout FrameBatch<AF1Header>) {
    while hasUnfinishedFrame { expire(into: &batch) }
  }
}

/// What comes of a stream in the pieces that `cuts` says.
func decode(
  _ stream: [UInt8], cuts: [Int] = [], maximumPayload: Int = 300, expire: Bool = false
) -> (frames: [Decoded], counters: FrameCounters, unfinished: Int) {
  var codec = AF1Codec(maximumPayload: maximumPayload)
  var batch = FrameBatch<AF1Header>()
  var start = 0
  for end in cuts + [stream.count] {
    codec.decode(stream[start..<end], into: &batch)
    start = end
  }
  if expire { codec.expireAll(into: &batch) }
  return (batch.all, codec.counters, codec.unfinishedByteCount)
}

/// A frame on the wire.
func frame(
  _ number: UInt16, _ payload: [UInt8] = [], command: AF1Command = .echo, flags: AF1Header.Flags = .replyWanted,
  version: UInt8 = 1
) -> [UInt8] {
  var output: [UInt8] = []
  do {
    try AF1Codec(maximumPayload: 65535).encode(
      AF1Header(version: version, flags: flags, command: command, number: number), payload: payload, into: &output)
  } catch {
    preconditionFailure("\(error)")
  }
  return output
}
