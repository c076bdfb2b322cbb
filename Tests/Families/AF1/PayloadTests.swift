// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyAF1

/// The payloads of the AF1 commands as values.
@Suite struct PayloadTests {
  /// Checks that `value` is written as `wire` and read back from it, and that `wire` cut short is refused.
  private func check<Payload: AF1Payload>(_ value: Payload, _ wire: String, minimum: Int) throws {
    let bytes = hex(wire)
    #expect(try value.encoded() == bytes)
    #expect(try Payload(decoding: bytes) == value)
    var appended: [UInt8] = [0xAA]
    try value.encode(into: &appended)
    #expect(appended == [0xAA] + bytes)
    for count in 0..<minimum {
      #expect(throws: AF1PayloadError.tooShort(byteCount: count, minimum: minimum)) {
        try Payload(decoding: Array(bytes.prefix(count)))
      }
    }
  }

  @Test func payloadsHaveTheLayoutsOfTheProtocol() throws {
    try check(AF1HelloRequest(nonce: 0x1234_5678), "78563412", minimum: 4)
    try check(
      AF1HelloReply(bootID: 0xC0FF_EE01, largestPayload: 4096, window: 1), "01EEFFC000100100", minimum: 8)
    try check(AF1StatusReply(state: .idle), "000000FF", minimum: 4)
    try check(AF1StatusReply(state: .fault, faultCode: 0x1234, progress: 100), "03341264", minimum: 4)
    try check(AF1StatusReply(state: .paused, faultCode: 1, progress: 0), "02010000", minimum: 4)
    try check(AF1TransferBeginReply(chunkSize: 512, resumeOffset: 0x0102_0304), "000204030201", minimum: 6)
    try check(AF1TransferDataReply(nextOffset: 0x0102_0304), "04030201", minimum: 4)
    try check(AF1TransferEndReply.stored, "00", minimum: 1)
    try check(AF1TransferEndReply.checksumDiffers, "01", minimum: 1)
    try check(AF1TransferEndReply.sizeDiffers, "02", minimum: 1)
    try check(AF1RefusalReason.busy, "05", minimum: 1)
    try check(AF1Empty(), "", minimum: 0)
    try check(AF1TransferDataRequest(offset: 1, data: []), "01000000", minimum: 4)
    try check(AF1TransferDataRequest(offset: 0x0102_0304, data: [9, 8]), "040302010908", minimum: 4)
  }

  @Test func repliesIgnoreFurtherFields() throws {
    #expect(try AF1HelloReply(decoding: hex("01EEFFC0001001AA5555")).largestPayload == 4096)
    #expect(try AF1StatusReply(decoding: hex("0100003255")) == AF1StatusReply(state: .busy, progress: 50))
    #expect(try AF1BatteryReply(decoding: hex("02390A00015555")).millivolts == 10)
    #expect(try AF1TransferBeginReply(decoding: hex("00020403020155")).chunkSize == 512)
    #expect(try AF1TransferDataReply(decoding: hex("0403020155")).nextOffset == 0x0102_0304)
    #expect(try AF1TransferEndReply(decoding: hex("0155")) == .checksumDiffers)
    #expect(try AF1RefusalReason(decoding: hex("0255")) == .payloadDamaged)
  }

  @Test func requestsRefuseFurtherArguments() {
    #expect(throws: AF1PayloadError.tooLong(byteCount: 5, maximum: 4)) {
      try AF1HelloRequest(decoding: [1, 2, 3, 4, 5])
    }
    #expect(throws: AF1PayloadError.tooLong(byteCount: 1, maximum: 0)) { try AF1Empty(decoding: [1]) }
  }

  @Test func windowIsAtLeastOne() throws {
    #expect(try AF1HelloReply(decoding: hex("0000000000010000")).window == 1)
    #expect(AF1HelloReply.assumedWithoutHello.largestPayload == 256)
    #expect(AF1HelloReply.assumedWithoutHello.window == 1)
  }

  @Test func aBatteryIsReadInFullAndShort() throws {
    let full = AF1BatteryReply(level: .normal, percent: 57, millivolts: 3712, charge: .discharging)
    try check(full, "02 39 80 0E 02", minimum: 1)
    let cases: [(AF1BatteryReply, String, String)] = [
      (full, "0239800E02", "0239800E02"),
      (AF1BatteryReply(level: .low), "01FF000000", "01"),
      (AF1BatteryReply(level: .high, percent: 0), "0300000000", "0300"),
      (AF1BatteryReply(level: .high, millivolts: 1), "03FF010000", "03FF0100"),
      (AF1BatteryReply(level: .notInitialized, charge: .full), "FFFF000003", "FFFF000003"),
    ]
    for (value, long, short) in cases {
      #expect(try value.encoded() == hex(long))
      var output: [UInt8] = []
      value.encodeShortest(into: &output)
      #expect(output == hex(short))
      #expect(try AF1BatteryReply(decoding: hex(long)) == value)
      #expect(try AF1BatteryReply(decoding: hex(short)) == value)
    }
  }

  @Test func aBatteryReplyMayEndBehindAnyField() throws {
    let wire = hex("0239800E02")
    let expected = [
      AF1BatteryReply(level: .normal), AF1BatteryReply(level: .normal, percent: 57),
      AF1BatteryReply(level: .normal, percent: 57), AF1BatteryReply(level: .normal, percent: 57, millivolts: 3712),
      AF1BatteryReply(level: .normal, percent: 57, millivolts: 3712, charge: .discharging),
    ]
    for count in 1...5 {
      #expect(try AF1BatteryReply(decoding: Array(wire.prefix(count))) == expected[count - 1], "\(count) bytes")
    }
  }

  @Test func percentIsAtMostAHundred() throws {
    #expect(try AF1BatteryReply(decoding: [2, 100]).percent == 100)
    #expect(try AF1BatteryReply(decoding: [2, 101]).percent == nil)
    #expect(try AF1BatteryReply(decoding: [2, 255]).percent == nil)
    #expect(try AF1BatteryReply(decoding: [2, 0]).percent == 0)
    #expect(AF1BatteryReply(level: .low, percent: 101, millivolts: 0) == AF1BatteryReply(level: .low))
    #expect(try AF1StatusReply(decoding: [1, 0, 0, 100]).progress == 100)
    #expect(try AF1StatusReply(decoding: [1, 0, 0, 101]).progress == nil)
    #expect(AF1StatusReply(state: .busy, progress: 200).progress == nil)
    var changed = AF1StatusReply(state: .busy)
    changed.progress = 200
    #expect(try changed.encoded() == [1, 0, 0, 0xFF])
  }

  @Test func unknownRawValuesHaveTheirMeaning() {
    for byte in UInt8.min...UInt8.max {
      let level: BatteryLevel =
        switch byte {
        case 1: .low
        case 2: .normal
        case 3: .high
        default: .notInitialized
        }
      #expect(BatteryLevel(wire: byte) == level)
      let state: AccessoryState =
        switch byte {
        case 0: .idle
        case 1: .busy
        case 2: .paused
        case 3: .fault
        default: .notInitialized
        }
      #expect(AccessoryState(wire: byte) == state)
      let charge: ChargeState =
        switch byte {
        case 1: .charging
        case 2: .discharging
        case 3: .full
        default: .unknown
        }
      #expect(ChargeState(wire: byte) == charge)
    }
    #expect(BatteryLevel.allCases.map(\.rawValue) == [1, 2, 3, 0xFF])
    #expect(AccessoryState.allCases.map(\.rawValue) == [0, 1, 2, 3, 0xFF])
    #expect(throws: AF1PayloadError.unknownValue(3)) { try AF1TransferEndReply(decoding: [3]) }
  }

  static let identity = AF1Identity(
    manufacturer: "Acme", name: "Zähler", model: "", serialNumber: "S-1", firmwareVersion: "1.2", hardwareVersion: "B")

  @Test func anIdentityIsSixTextsThatEndInZeros() throws {
    let wire = Array("Acme\0Zähler\0\0S-1\01.2\0B\0".utf8)
    #expect(try Self.identity.encoded() == wire)
    #expect(try AF1Identity(decoding: wire) == Self.identity)
    #expect(try AF1Identity(decoding: wire + Array("more".utf8)) == Self.identity)
    for count in 0..<wire.count {
      let ends = wire.prefix(count).filter { $0 == 0 }.count
      #expect(throws: AF1PayloadError.textNotEnded(index: ends)) {
        try AF1Identity(decoding: Array(wire.prefix(count)))
      }
    }
  }

  @Test func wrongUTF8OfAnIdentityIsRepaired() throws {
    let wire = [0x41, 0xFF, 0x42] + [UInt8](repeating: 0, count: 6)
    #expect(try AF1Identity(decoding: wire).manufacturer == "A\u{FFFD}B")
  }

  @Test func aTextOfAnIdentityHas256BytesAtMost() throws {
    let longest = [UInt8](repeating: 0x41, count: 256)
    let rest = [UInt8](repeating: 0, count: 6)
    #expect(try AF1Identity(decoding: longest + rest).manufacturer.utf8.count == 256)
    #expect(throws: AF1PayloadError.textTooLong(byteCount: 257, maximum: 256)) {
      try AF1Identity(decoding: longest + [0x41] + rest)
    }
    var value = Self.identity
    value.hardwareVersion = String(repeating: "x", count: 257)
    var output: [UInt8] = [7]
    #expect(throws: AF1PayloadError.textTooLong(byteCount: 257, maximum: 256)) { try value.encode(into: &output) }
    value.hardwareVersion = "a\0b"
    #expect(throws: AF1PayloadError.textContainsZero) { try value.encode(into: &output) }
    #expect(output == [7])
  }

  @Test func aTransferBeginsWithKindSizeChecksumAndName() throws {
    let value = AF1TransferBeginRequest(kind: .image, size: 0x0102_0304, checksum: 0xCBF4_3926, name: "é.bmp")
    try check(value, "02 04030201 2639F4CB C3A9 2E626D70", minimum: 9)
    let unnamed = AF1TransferBeginRequest(kind: .init(rawValue: 9), size: 0, checksum: 0, name: "")
    try check(unnamed, "09 00000000 00000000", minimum: 9)
    let head = [UInt8](repeating: 1, count: 9)
    #expect(try AF1TransferBeginRequest(decoding: head + [0xFF]).name == "\u{FFFD}")
    #expect(throws: AF1PayloadError.textContainsZero) { try AF1TransferBeginRequest(decoding: head + [0x41, 0]) }
    #expect(throws: AF1PayloadError.textTooLong(byteCount: 257, maximum: 256)) {
      try AF1TransferBeginRequest(decoding: head + [UInt8](repeating: 0x41, count: 257))
    }
    var long = value
    long.name = String(repeating: "x", count: 257)
    #expect(throws: AF1PayloadError.textTooLong(byteCount: 257, maximum: 256)) { try long.encoded() }
  }
}
