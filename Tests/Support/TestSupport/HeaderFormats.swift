// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Formats of known protocols, and of made-up ones that use every option.
package enum HeaderFormats {
  package static let af1 = HeaderFormat(
    sync: [0x0F, 0xF0], headerByteCount: 10, length: .init(offset: 6),
    headerChecksum: .init(.crc(.crc16IBM3740), offset: 8, covers: 0..<8),
    payloadChecksum: .init(.crc(.crc32ISOHDLC), isPresentIfEmpty: false),
    version: .init(offset: 2, mask: 0xF0, value: 0x10))
  /// u-blox receivers.
  package static let ubx = HeaderFormat(
    sync: [0xB5, 0x62], headerByteCount: 6, length: .init(offset: 4),
    payloadChecksum: .init(.fletcher8, coveredHeader: 2..<6))
  /// MAVLink 2 without signature and without the extra byte in its checksum.
  package static let mavlink = HeaderFormat(
    sync: [0xFD], headerByteCount: 10, length: .init(offset: 1, byteCount: 1),
    payloadChecksum: .init(.crc(.crc16MCRF4XX), coveredHeader: 1..<10))
  package static let crc24Q = CRCParameters(
    name: "CRC-24/LTE-A", width: 24, polynomial: 0x864CFB, initial: 0, reflected: false, xorOut: 0, check: 0xCDE703)
  /// RTCM 3; its length has ten bits, of which the limit stands for the rest.
  package static let rtcm = HeaderFormat(
    sync: [0xD3], headerByteCount: 3, length: .init(offset: 1, byteOrder: .bigEndian),
    payloadChecksum: .init(.crc(crc24Q), byteOrder: .bigEndian, coveredHeader: 0..<3))
  /// Three sync bytes, and a length of the whole frame.
  package static let wholeFrame = HeaderFormat(
    sync: [0xAA, 0x44, 0x13], headerByteCount: 5, length: .init(offset: 3, byteOrder: .bigEndian, counts: .frame),
    payloadChecksum: .init(.negatedSum8, coveredHeader: 0..<5))
  /// As the STM32 boot loader has it: one less than the payload, and an exclusive or.
  package static let oneLess = HeaderFormat(
    sync: [0x31], headerByteCount: 2, length: .init(offset: 1, byteCount: 1, bias: 1),
    payloadChecksum: .init(.xor8, coveredHeader: 1..<2))
  /// The payload's checksum is in the header, and covered by that of the header.
  package static let checksumInHeader = HeaderFormat(
    sync: [0x7E], headerByteCount: 6, length: .init(offset: 1, byteCount: 1),
    headerChecksum: .init(.sum8, offset: 5, covers: 0..<5),
    payloadChecksum: .init(.crc(.crc16MODBUS), position: .inHeader(offset: 3)))
  /// Four sync bytes that overlap themselves, a length with its trailer, and nothing behind an empty payload.
  package static let withTrailer = HeaderFormat(
    sync: [0xAA, 0xAA, 0xAA, 0x55], headerByteCount: 8,
    length: .init(offset: 5, byteCount: 3, byteOrder: .bigEndian, counts: .payloadAndTrailer),
    payloadChecksum: .init(.crc(.crc32ISCSI), coveredHeader: 4..<6, isPresentIfEmpty: false))
  /// No checksum at all.
  package static let bare = HeaderFormat(sync: [0x02], headerByteCount: 2, length: .init(offset: 1, byteCount: 1))

  package static let all = [af1, ubx, mavlink, rtcm, wholeFrame, oneLess, checksumInHeader, withTrailer, bare]
}
