// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator

// What tests of codecs share.

extension SeededGenerator {
  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Bytes among which no frame can begin.
  package mutating func plainBytes(_ count: Int) -> [UInt8] { bytes(count).map { $0 == 0x0F ? 0x0E : $0 } }
}

/// Bytes from hexadecimal digits in pairs; spaces are ignored.
package func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// One entry of a batch, as a value.
package struct Received<Header: Hashable & Sendable>: Equatable, CustomStringConvertible {
  package var outcome: FrameOutcome
  package var header: Header
  package var payload: [UInt8]

  package var description: String { "\(outcome) \(payload)" }
}

extension FrameBatch where Header: Hashable {
  package var received: [Received<Header>] {
    (0..<count).map { Received(outcome: outcome(at: $0), header: header(at: $0), payload: payloadBytes(at: $0)) }
  }

  package var outcomes: [FrameOutcome] { (0..<count).map { outcome(at: $0) } }

  /// The payloads of whole frames.
  package var payloads: [[UInt8]] { received.filter { $0.outcome == .whole }.map(\.payload) }
}

extension FrameCodec {
  package mutating func feed(_ bytes: some Sequence<UInt8>, into batch: inout FrameBatch<Header>) {
    let bytes = Array(bytes)
    decode(bytes.span.bytes, into: &batch)
  }

  /// What comes of `bytes`.
  package mutating func received(_ bytes: some Sequence<UInt8>) -> FrameBatch<Header> {
    var batch = FrameBatch<Header>()
    feed(bytes, into: &batch)
    return batch
  }

  /// What becomes of one payload on the wire.
  package func wire(_ header: Header, _ payload: [UInt8]) throws -> [UInt8] {
    var output: [UInt8] = []
    try encode(header, payload: payload, into: &output)
    return output
  }
}

extension FrameCodec where Header == NoHeader {
  package func wire(_ payload: [UInt8]) throws -> [UInt8] { try wire(NoHeader(), payload) }
}

/// A CRC bit by bit, straight from the definition of the model.
package func bitwiseCRC(_ bytes: some Sequence<UInt8>, _ parameters: CRCParameters) -> UInt32 {
  let width = UInt64(parameters.width)
  let top = UInt64(1) << (width - 1)
  let mask = top << 1 - 1
  var register = UInt64(parameters.initial)
  for byte in bytes {
    for bit in 0..<8 {
      let input = parameters.reflected ? byte >> UInt8(bit) & 1 : byte >> UInt8(7 - bit) & 1
      let carry = (register & top != 0 ? 1 : 0) ^ UInt64(input)
      register = register << 1 & mask
      if carry == 1 { register ^= UInt64(parameters.polynomial) }
    }
  }
  if parameters.reflected {
    var reversed: UInt64 = 0
    for bit in 0..<width where register >> bit & 1 == 1 { reversed |= 1 << (width - 1 - bit) }
    register = reversed
  }
  return UInt32(register ^ UInt64(parameters.xorOut))
}

/// Finds a way to cut `stream` in pieces that gives something else than no cut: every single cut, every byte by itself, and some random cuts.
/// With `pauses` the line is also idle behind each piece. Nil if there is none, as there should be.
package func cutThatMatters<Codec: FrameCodec>(
  _ codec: Codec, _ stream: [UInt8], everyCut: Bool, pauses: Bool
) -> String? where Codec.Header: Hashable {
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
    if !isSame { return "cuts \(cuts.prefix(30)) of \(stream.prefix(200))" }
  }
  return nil
}
