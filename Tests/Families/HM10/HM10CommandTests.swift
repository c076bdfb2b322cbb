// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryProtocols
@testable import FamilyHM10

@Suite struct HM10CommandTests {
  static let address = BluetoothAddress("0017EA090909")
  static let vectors: [(HM10Command, String)] = [
    (.attention, "AT"), (.address, "AT+ADDR?"), (.name, "AT+NAME?"), (.setName("robot"), "AT+NAMErobot"),
    (.setName("Zwölf Zeich"), "AT+NAMEZwölf Zeich"), (.version(.verr), "AT+VERR?"), (.version(.vers), "AT+VERS?"),
    (.battery, "AT+BATT?"), (.ask(.speed), "AT+BAUD?"), (.setSpeed(.b115200), "AT+BAUD4"),
    (.setSpeed(.b230400), "AT+BAUD8"), (.ask(.role), "AT+ROLE?"), (.setRole(.central), "AT+ROLE1"),
    (.setRole(.peripheral), "AT+ROLE0"), (.ask(.immediate), "AT+IMME?"), (.set(.immediate, 1), "AT+IMME1"),
    (.start, "AT+START"), (.set(.notify, 1), "AT+NOTI1"), (.set(.notify, 0), "AT+NOTI0"),
    (.set(.notifyAddress, 1), "AT+NOTP1"), (.discover, "AT+DISC?"), (.discoverBeacons, "AT+DISI?"),
    (.discoverAdvertisements, "AT+DISA?"), (.connectIndex(0), "AT+CONN0"), (.connectIndex(5), "AT+CONN5"),
    (.connectLast, "AT+CONNL"), (.clear, "AT+CLEAR"), (.lastAddress, "AT+RADD?"), (.signalStrength, "AT+RSSI?"),
    (.set(.show, 3), "AT+SHOW3"), (.set(.scanTime, 3), "AT+SCAN3"), (.set(.connectTime, 500), "AT+TCON000500"),
    (.setMode(.remote), "AT+MODE2"), (.ask(.pin), "AT+PASS?"), (.set(.pin, 1234), "AT+PIN001234"),
    (.set(.type, 3), "AT+TYPE3"), (.setPower(.plus6), "AT+POWE3"), (.setParity(.odd), "AT+PARI2"),
    (.set(.stopBits, 1), "AT+STOP1"), (.set(.service, 0xFFE0), "AT+UUID0xFFE0"),
    (.set(.characteristic, 0xFFE1), "AT+CHAR0xFFE1"), (.sleep, "AT+SLEEP"), (.renew, "AT+RENEW"),
    (.reset, "AT+RESET"), (.help, "AT+HELP?"), (.other("AT+PIO11"), "AT+PIO11"),
  ]

  @Test(arguments: vectors) func aModulesCommandIsEncodedAndReadBack(command: HM10Command, wire: String) throws {
    #expect(try command.encoded() == Array(wire.utf8))
    #expect(try HM10Command(decoding: Array(wire.utf8)) == command)
    #expect(try HM10Command(decoding: Array(wire.utf8) + [0x0D, 0x0A]) == command)
  }

  @Test func connectingToAnAddressIsEncodedAndReadBack() throws {
    let address = try #require(Self.address)
    let vectors: [(HM10Command, String)] = [
      (.connect(address), "AT+CON0017EA090909"), (.connect(address, isDual: true), "AT+CO10017EA090909"),
    ]
    for (command, wire) in vectors {
      #expect(try command.encoded() == Array(wire.utf8))
      #expect(try HM10Command(decoding: Array(wire.utf8)) == command)
    }
  }

  @Test func clonesCommandsEndTheirLinesAndHaveOtherWords() throws {
    let vectors: [(HM10Command, String)] = [
      (.attention, "AT\r\n"), (.address, "AT+LADDR\r\n"), (.discover, "AT+INQ\r\n"), (.setName("x"), "AT+NAMEx\r\n"),
    ]
    for (command, wire) in vectors {
      #expect(try command.encoded(for: .clone) == Array(wire.utf8))
      #expect(try HM10Command(decoding: Array(wire.utf8)) == command)
    }
    #expect(HM10Dialect(answer: Array("OK".utf8)) == .genuine)
    #expect(HM10Dialect(answer: Array("OK\r\n".utf8)) == .clone)
    for other in ["", "O", "OK\n", "OK+LOST", "ERROR\r\n"] { #expect(HM10Dialect(answer: Array(other.utf8)) == nil) }
  }

  @Test func wrongCommandsOfAModuleAreRefused() {
    let refused: [(HM10Command, HM10CommandError)] = [
      (.setName(""), .nameLength(byteCount: 0)), (.setName("thirteen byte"), .nameLength(byteCount: 13)),
      (.setName("äöüäöüä"), .nameLength(byteCount: 14)), (.setName("?"), .notSendable),
      (.setName("a\r\nAT+X"), .notSendable), (.setName("\u{1B}[2J"), .notSendable), (.setName("\u{7F}"), .notSendable),
      (.set(.role, 2), .outOfRange(argument: "ROLE", value: 2, range: 0...1)),
      (.set(.scanTime, 0), .outOfRange(argument: "SCAN", value: 0, range: 1...9)),
      (.set(.pin, 1_000_000), .outOfRange(argument: "PASS", value: 1_000_000, range: 0...999_999)),
      (.set(.service, -1), .outOfRange(argument: "UUID", value: -1, range: 0...0xFFFF)),
      (.connectIndex(6), .outOfRange(argument: "index", value: 6, range: 0...5)),
      (.other("XT"), .notSendable), (.other("AT\n"), .notSendable), (.other("ATä"), .notSendable),
      (.other("AT" + String(repeating: "x", count: 79)), .tooLong(byteCount: 81)),
    ]
    for (command, error) in refused { #expect(throws: error) { try command.encoded() } }
    #expect(throws: HM10CommandError.notACommand) { try HM10Command(decoding: []) }
    #expect(throws: HM10CommandError.notACommand) { try HM10Command(decoding: Array("hello".utf8)) }
    #expect(throws: HM10CommandError.notACommand) { try HM10Command(decoding: Array("AT+NAME\u{1B}".utf8)) }
    #expect(throws: HM10CommandError.self) {
      try HM10Command(decoding: Array("AT".utf8) + [UInt8](repeating: 0x41, count: 90))
    }
  }

  @Test func whatAModuleDoesNotKnowIsOther() throws {
    for text in [
      "AT+ROLE2", "AT+ROLE", "AT+BAUD9", "AT+CONN6", "AT+CONN", "AT+CON0017EA09090", "AT+TCON5", "AT+UUIDFFE0",
    ] {
      #expect(try HM10Command(decoding: Array(text.utf8)) == .other(text))
    }
  }

  @Test func aSettingsTextsAreReadWithinItsRange() {
    #expect(HM10Setting.pin.value("001234") == 1234 && HM10Setting.pin.value("x") == nil)
    #expect(HM10Setting.service.value("0xFFE0") == 0xFFE0 && HM10Setting.service.value("FFE0") == nil)
    #expect(HM10Setting.role.value("1") == 1 && HM10Setting.role.value("2") == nil)
    #expect(HM10Setting.role.value("-1") == nil && HM10Setting.role.value("") == nil)
    #expect(HM10Setting.speed.value(of: .get("4")).flatMap { HM10Speed(rawValue: $0) }?.bitsPerSecond == 115_200)
    #expect(HM10Setting.pin.value(of: .value(name: "PASS", text: "000000")) == 0)
    #expect(HM10Setting.pin.value(of: .ok) == nil)
    #expect(HM10Speed(bitsPerSecond: 4_800) == .b4800 && HM10Speed(bitsPerSecond: 300) == nil)
    #expect(HM10Power.allCases.map(\.decibels) == [-23, -6, 0, 6])
    let speeds = [9_600, 19_200, 38_400, 57_600, 115_200, 4_800, 2_400, 1_200, 230_400]
    #expect(HM10Speed.allCases.map(\.bitsPerSecond) == speeds)
    for setting in HM10Setting.allCases {
      #expect(setting.factoryValue.map { setting.range.contains($0) } ?? true)
      for value in [setting.range.lowerBound, setting.range.upperBound] {
        #expect(setting.value(setting.text(value)) == value)
      }
    }
  }

  @Test func bluetoothAddressesAreReadInTheirUsualForms() {
    let address = BluetoothAddress(rawValue: 0x0017_EA09_09FF)
    for text in ["0017EA0909FF", "0017ea0909ff", "00:17:EA:09:09:FF", "00-17-ea-09-09-ff"] {
      #expect(BluetoothAddress(text) == address)
    }
    #expect(address?.digits == "0017EA0909FF" && address?.description == "00:17:EA:09:09:FF")
    for text in [
      "", "0017EA0909F", "0017EA0909FG", "+017EA0909FF", "00:17-EA:09:09:FF", "001:7E:A0:90:9F:F0", "００17EA0909",
    ] {
      #expect(BluetoothAddress(text) == nil)
    }
    #expect(BluetoothAddress(rawValue: 1 << 48) == nil)
  }
}
