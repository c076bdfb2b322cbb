// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyAF1

// A target for libFuzzer: the general form with header and checksums. The first byte chooses format, limit and rule.

private let formats = [
  // AF1.
  HeaderFormat(
    sync: [0x0F, 0xF0], headerByteCount: 10, length: .init(offset: 6),
    headerChecksum: .init(.crc(.crc16IBM3740), offset: 8, covers: 0..<8),
    payloadChecksum: .init(.crc(.crc32ISOHDLC), isPresentIfEmpty: false),
    version: .init(offset: 2, mask: 0xF0, value: 0x10)),
  // UBX.
  HeaderFormat(
    sync: [0xB5, 0x62], headerByteCount: 6, length: .init(offset: 4),
    payloadChecksum: .init(.fletcher8, coveredHeader: 2..<6)),
  // Weak checksums, so that chance finds whole frames; in the header, over a length of the whole frame.
  HeaderFormat(
    sync: [0x7E], headerByteCount: 4, length: .init(offset: 1, byteCount: 1, counts: .frame),
    headerChecksum: .init(.xor8, offset: 3, covers: 1..<3),
    payloadChecksum: .init(.sum8, position: .inHeader(offset: 2))),
  HeaderFormat(
    sync: [0xAA, 0xAA, 0x55], headerByteCount: 5,
    length: .init(offset: 3, byteOrder: .bigEndian, counts: .payloadAndTrailer),
    payloadChecksum: .init(.negatedSum8, isPresentIfEmpty: false)),
  HeaderFormat(
    sync: [0xFD], headerByteCount: 2, length: .init(offset: 1, byteCount: 1),
    payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<2)),
  HeaderFormat(sync: [0x02, 0x02], headerByteCount: 3, length: .init(offset: 2, byteCount: 1)),
]

/// What a frame of `format` has in front and behind, in bytes.
private func overhead(_ format: HeaderFormat) -> Int { format.headerByteCount + 4 }

/// Gives every header of AF1 a good checksum, as chance will hardly find one.
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

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard var (choice, bytes) = input(data, count) else { return 0 }
  let format = formats[choice % formats.count]
  let isAF1 = choice % formats.count == 0
  if isAF1, choice & 1 == 1 || bytes.count > 40 { repair(&bytes) }
  let limit = [1, 8, 40, 200][choice / formats.count % 4]
  let silence: SilenceRule = choice & 0x80 == 0 ? .everyFinished : .onlyLast
  do {
    let codec = try HeaderCodec(format, maximumPayload: limit, silence: silence)
    check(codec, bytes, choice: choice, mostKept: limit + overhead(format)) { $0.unfinishedByteCount }
    if isAF1 { checkAF1(codec, bytes, limit, silence) }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}

/// AF1's own codec finds the same.
private func checkAF1(_ codec: HeaderCodec, _ bytes: [UInt8], _ limit: Int, _ silence: SilenceRule) {
  var codec = codec
  var batch = FrameBatch<HeaderBytes>()
  var af1 = AF1Codec(maximumPayload: limit, silence: silence)
  var af1Batch = FrameBatch<AF1Header>()
  var chance = Chance(state: UInt64(limit))
  var start = 0
  while start < bytes.count {
    let end = min(bytes.count, start + 1 + chance.next(below: 60))
    codec.decode(bytes.span.bytes.extracting(start..<end), into: &batch)
    af1.decode(bytes.span.bytes.extracting(start..<end), into: &af1Batch)
    if chance.next(below: 4) == 0 {
      codec.idle(into: &batch)
      af1.idle(into: &af1Batch)
    }
    start = end
  }
  precondition(codec.counters == af1.counters && batch.count == af1Batch.count, "not as AF1")
  for index in 0..<batch.count {
    precondition(batch.outcome(at: index) == af1Batch.outcome(at: index), "not as AF1")
    precondition(batch.payloadBytes(at: index) == af1Batch.payloadBytes(at: index), "not as AF1")
  }
}
