// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyAF1

// A target for libFuzzer. The first byte seeds the cuts and the limit, and says whether checksums are repaired; the rest
// is the stream.
//
// `run`, next to this file, builds and runs this and the other targets: first the module, from all its sources, with
// `-emit-module -emit-library -static -module-name AccessoryProtocols`, then this file against it, both with
// `-sanitize=fuzzer,address -O -parse-as-library`.

/// One entry of a batch.
private struct Entry: Equatable {
  var outcome: FrameOutcome
  var header: AF1Header
  var payload: [UInt8]
}

/// What a decoder made of a stream.
private struct Result: Equatable {
  var entries: [Entry]
  var counters: FrameCounters
  var unfinished: Int
}

private struct Cuts {
  var state: UInt64

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }
}

/// Gives every header a good checksum, and every other one whose payload is there a good payload checksum, as chance
/// will hardly find one. Later repairs can break earlier ones, which is welcome.
private func repair(_ bytes: inout [UInt8]) {
  var index = 0
  while index + 10 <= bytes.count {
    defer { index += 1 }
    guard bytes[index] == 0x0F, bytes[index + 1] == 0xF0 else { continue }
    let end = index + 10 + Int(bytes[index + 6]) + Int(bytes[index + 7]) << 8
    let header = CRC16.checksum(of: bytes.span.bytes.extracting(index..<(index + 8)), .crc16IBM3740)
    bytes[index + 8] = UInt8(truncatingIfNeeded: header)
    bytes[index + 9] = UInt8(header >> 8)
    guard bytes[index + 4] & 1 == 1, end + 4 <= bytes.count else { continue }
    let payload = CRC32.checksum(of: bytes.span.bytes.extracting((index + 10)..<end), .crc32ISOHDLC)
    for byte in 0..<4 { bytes[end + byte] = UInt8(truncatingIfNeeded: payload >> UInt32(8 * byte)) }
  }
}

private func entries(_ batch: FrameBatch<AF1Header>) -> [Entry] {
  (0..<batch.count).map {
    Entry(outcome: batch.outcome(at: $0), header: batch.header(at: $0), payload: batch.payloadBytes(at: $0))
  }
}

/// Decodes `stream` in pieces of at most `piece` bytes.
private func decode(_ stream: RawSpan, limit: Int, piece: Int, cuts: inout Cuts) -> Result {
  var codec = AF1Codec(maximumPayload: limit)
  var batch = FrameBatch<AF1Header>()
  var start = 0
  while start < stream.byteCount {
    let end = min(stream.byteCount, start + 1 + cuts.next(below: piece))
    codec.decode(stream.extracting(start..<end), into: &batch)
    precondition(codec.unfinishedByteCount < limit + 14, "more is kept than may be")
    start = end
  }
  return Result(entries: entries(batch), counters: codec.counters, unfinished: codec.unfinishedByteCount)
}

/// The same with silence and timeouts in between.
private func decodeWithPauses(_ stream: RawSpan, limit: Int, silence: SilenceRule, cuts: inout Cuts) -> Result {
  var codec = AF1Codec(maximumPayload: limit, silence: silence)
  var batch = FrameBatch<AF1Header>()
  var start = 0
  while start < stream.byteCount {
    let end = min(stream.byteCount, start + 1 + cuts.next(below: 40))
    codec.decode(stream.extracting(start..<end), into: &batch)
    switch cuts.next(below: 8) {
    case 0...3: codec.idle(into: &batch)
    case 4: codec.expire(into: &batch)
    default: break
    }
    precondition(codec.unfinishedByteCount < limit + 14, "more is kept than may be")
    start = end
  }
  return Result(entries: entries(batch), counters: codec.counters, unfinished: codec.unfinishedByteCount)
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 1 else { return 0 }
  var bytes = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
  if data[0] & 0x80 != 0 { repair(&bytes) }
  let stream = bytes.span.bytes
  let limit = [1, 8, 40, 300, 4096, 65535][Int(data[0] & 0x7F) % 6]
  var cuts = Cuts(state: UInt64(data[0]))
  var whole = Cuts(state: 0)
  let expected = decode(stream, limit: limit, piece: 1, cuts: &whole)
  for piece in [3, 20, 100_000] {
    precondition(decode(stream, limit: limit, piece: piece, cuts: &cuts) == expected, "cuts matter")
  }
  var codec = AF1Codec(maximumPayload: limit)
  var batch = FrameBatch<AF1Header>()
  codec.decode(stream, into: &batch)
  precondition(entries(batch) == expected.entries && codec.counters == expected.counters, "cuts matter")

  // A delivered frame is one: encoding it again gives bytes that decode to it.
  for entry in expected.entries where entry.outcome == .whole {
    var wire: [UInt8] = []
    do { try codec.encode(entry.header, payload: entry.payload, into: &wire) } catch { preconditionFailure("\(error)") }
    var again = AF1Codec(maximumPayload: limit)
    var one = FrameBatch<AF1Header>()
    again.decode(wire.span.bytes, into: &one)
    precondition(entries(one) == [entry], "a frame does not survive encoding")
    _ = try? AF1Identity(decoding: entry.payload)
    _ = try? AF1BatteryReply(decoding: entry.payload)
    _ = try? AF1StatusReply(decoding: entry.payload)
    _ = try? AF1TransferBeginRequest(decoding: entry.payload)
  }

  for rule in [SilenceRule.everyFinished, .onlyLast] {
    let paused = decodeWithPauses(stream, limit: limit, silence: rule, cuts: &cuts)
    let frames = paused.entries.filter { $0.outcome == .whole }.count
    precondition(paused.counters.frames == UInt64(frames), "frames are miscounted")
    precondition(paused.counters.skippedBytes <= UInt64(stream.byteCount), "more is skipped than there was")
  }
  return 0
}
