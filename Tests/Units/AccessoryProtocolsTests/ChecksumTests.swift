// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyAF1

@Suite struct ChecksumTests {
  static let digits = Array("123456789".utf8)

  static let others = [
    CRCParameters(
      name: "CRC-5/USB", width: 5, polynomial: 0x05, initial: 0x1F, reflected: true, xorOut: 0x1F, check: 0x19),
    CRCParameters(
      name: "CRC-24/OPENPGP", width: 24, polynomial: 0x86_4CFB, initial: 0xB7_04CE, reflected: false, xorOut: 0,
      check: 0x21_CF02),
  ]

  @Test func catalogueHasTheElevenAlgorithms() {
    let checks: [String: UInt32] = [
      "CRC-16/IBM-3740": 0x29B1, "CRC-16/XMODEM": 0x31C3, "CRC-16/KERMIT": 0x2189, "CRC-16/IBM-SDLC": 0x906E,
      "CRC-16/MCRF4XX": 0x6F91, "CRC-16/ARC": 0xBB3D, "CRC-16/MODBUS": 0x4B37, "CRC-8/SMBUS": 0xF4,
      "CRC-8/MAXIM-DOW": 0xA1,
      "CRC-32/ISO-HDLC": 0xCBF4_3926, "CRC-32/ISCSI": 0xE306_9283,
    ]
    let found = CRCParameters.catalogue.map { ($0.name, $0.check) }
    #expect(Dictionary(uniqueKeysWithValues: found) == checks)
  }

  @Test(arguments: CRCParameters.catalogue + others)
  func theCheckValueIsThatOfTheCatalogue(_ parameters: CRCParameters) {
    #expect(CRC32.checksum(of: Self.digits.span.bytes, parameters) == parameters.check)
    #expect(bitwiseCRC(Self.digits, parameters) == parameters.check)
  }

  @Test func checkValuesHaveTheirOwnWidth() {
    #expect(CRC16.checksum(of: Self.digits.span.bytes, .crc16MODBUS) == 0x4B37)
    #expect(CRC8.checksum(of: Self.digits.span.bytes, .crc8SMBUS) == 0xF4)
  }

  @Test(arguments: CRCParameters.catalogue + others)
  func checksumsOfEveryLengthAreAsBitByBit(_ parameters: CRCParameters) {
    var random = SeededGenerator(seed: 1)
    for length in Array(0...100) + [1000, 4099] {
      let bytes = random.bytes(length)
      #expect(CRC32.checksum(of: bytes.span.bytes, parameters) == bitwiseCRC(bytes, parameters), "length \(length)")
    }
  }

  @Test(arguments: CRCParameters.catalogue + others)
  func checksumsInPiecesAreAsAtOnce(_ parameters: CRCParameters) {
    var random = SeededGenerator(seed: 2)
    let bytes = random.bytes(100)
    let expected = bitwiseCRC(bytes, parameters)
    var check = CRC32(parameters)
    for split in 0...bytes.count {
      check.reset()
      check.update(bytes.span.bytes.extracting(0..<split))
      check.update(bytes.span.bytes.extracting(split..<bytes.count))
      #expect(check.value == expected, "split \(split)")
    }
  }

  /// Where the processor multiplies without carries, as where it looks up tables, at every length and in every register.
  @Test(arguments: CRCParameters.catalogue.filter(\.reflected))
  func foldedChecksumsAreAsThoseByTables(_ parameters: CRCParameters) throws {
    let table = CRCTable.table(for: parameters)
    guard let folding = table.folding else { return #expect(!CRCFolding.isPossible) }
    var random = SeededGenerator(seed: 5)
    for count in 64...400 {
      let bytes = random.bytes(count)
      let register = UInt32(truncatingIfNeeded: random.next()) >> UInt32(32 - parameters.width)
      #expect(
        folding.reflected(register, bytes.span.bytes, table.entries.span)
          == CRCKernels.reflected(register, bytes.span.bytes, table.entries.span), "\(count) bytes")
    }
  }

  @Test func theHeadersCRCIsAsBitByBit() {
    var random = SeededGenerator(seed: 3)
    let table = AF1Header.checksumTable.entries
    for _ in 0..<1000 {
      let bytes = random.bytes(8)
      let word = bytes.span.bytes.load(littleEndianAt: 0, as: UInt64.self)
      #expect(UInt32(AF1Header.checksum(of: word, table.span)) == bitwiseCRC(bytes, .crc16IBM3740))
    }
  }

  @Test func bytesAndPairsAreFoundAsBySearching() {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<3000 {
      let bytes: [UInt8] = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        [0x0F, 0xF0, 0x0E, 0x10, 0xF1, 0xEF, 0x00, 0xFF].randomElement(using: &random) ?? 0
      }
      let start = Int.random(in: 0...bytes.count, using: &random)
      let one = bytes[start...].firstIndex(of: 0x0F) ?? bytes.count
      #expect(ByteSearch.firstIndex(of: 0x0F, in: bytes.span.bytes, from: start) == one)
      let pair = (start..<bytes.count).first {
        bytes[$0] == 0x0F && ($0 + 1 == bytes.count || bytes[$0 + 1] == 0xF0)
      }
      #expect(
        ByteSearch.firstPair(0x0F, 0xF0, in: bytes.span.bytes, from: start) == pair ?? bytes.count,
        "\(bytes) from \(start)")
    }
  }
}
