// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryProtocols

/// One entry of a batch, as a value.
struct Received<Header: Hashable & Sendable>: Equatable, CustomStringConvertible {
  var outcome: FrameOutcome
  var header: Header
  var payload: [UInt8]

  var description: String { "\(outcome) \(payload)" }
}

extension FrameBatch where Header: Hashable {
  var received: [Received<Header>] {
    (0..<count).map { Received(outcome: outcome(at: $0), header: header(at: $0), payload: payloadBytes(at: $0)) }
  }

  var outcomes: [FrameOutcome] { (0..<count).map { outcome(at: $0) } }

  /// The payloads of whole frames.
  var payloads: [[UInt8]] { received.filter { $0.outcome == .whole }.map(\.payload) }
}

extension FrameCodec {
  mutating func feed(_ bytes: some Sequence<UInt8>, into batch: inout FrameBatch<Header>) {
    let bytes = Array(bytes)
    decode(bytes.span.bytes, into: &batch)
  }

  /// What comes of `bytes`.
  mutating func received(_ bytes: some Sequence<UInt8>) -> FrameBatch<Header> {
    var batch = FrameBatch<Header>()
    feed(bytes, into: &batch)
    return batch
  }

  /// What becomes of one payload on the wire.
  func wire(_ header: Header, _ payload: [UInt8]) throws -> [UInt8] {
    var output: [UInt8] = []
    try encode(header, payload: payload, into: &output)
    return output
  }
}

extension FrameCodec where Header == NoHeader {
  func wire(_ payload: [UInt8]) throws -> [UInt8] { try wire(NoHeader(), payload) }
}

/// Every single cut, every byte by itself, and some random cuts give what no cut gives, as does an idle line where
/// `pauses` says that it changes nothing.
func expectSameForAnyCuts<Codec: FrameCodec>(
  _ codec: Codec, _ stream: [UInt8], everyCut: Bool = true, pauses: Bool = false,
  location: SourceLocation = #_sourceLocation
) where Codec.Header: Hashable {
  var whole = codec
  let expected = whole.received(stream).received
  var ways: [[Int]] = [Array(0..<stream.count)]
  if everyCut { ways += (0...stream.count).map { [$0] } }
  var random = SeededGenerator(seed: UInt64(stream.count))
  for pieces in [2, 3, 7, 20, 50] {
    ways.append((0..<pieces).map { _ in Int.random(in: 0...stream.count, using: &random) }.sorted())
  }
  for cuts in ways {
    var cut = codec
    var batch = FrameBatch<Codec.Header>()
    var start = 0
    for end in cuts + [stream.count] {
      cut.feed(stream[start..<end], into: &batch)
      if pauses { cut.idle(into: &batch) }
      start = end
    }
    let isSame =
      batch.received == expected && cut.counters == whole.counters
      && cut.hasUnfinishedFrame == whole.hasUnfinishedFrame
    #expect(isSame, "cuts \(cuts.prefix(30)) of \(stream.prefix(200))", sourceLocation: location)
    if !isSame { return }
  }
}
