// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport

@testable import FamilyAF1

typealias SeededGenerator = TestSupport.SeededGenerator

extension SeededGenerator {
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Bytes among which no frame can begin.
  mutating func plainBytes(_ count: Int) -> [UInt8] { bytes(count).map { $0 == 0x0F ? 0x0E : $0 } }
}

/// Bytes from hexadecimal digits in pairs; spaces are ignored.
func hex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

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

/// A CRC bit by bit, straight from the definition of the model.
func bitwiseCRC(_ bytes: some Sequence<UInt8>, _ parameters: CRCParameters) -> UInt32 {
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
