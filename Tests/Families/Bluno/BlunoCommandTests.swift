// SPDX-License-Identifier: Apache-2.0

import FamilyBluno
import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct BlunoCommandTests {
  static let vectors: [(BlunoCommand, String)] = [
    (.toggle, "+++"), (.attention, "AT\r\n"), (.exit, "AT+EXIT\r\n"), (.restart, "AT+RESTART\r\n"),
    (.set(.function, "FSM_TRANS_USB_COM_BLE"), "AT+FSM=FSM_TRANS_USB_COM_BLE\r\n"),
    (.set(.function, "FSM_HID_USB_COM_BLE_AT"), "AT+FSM=FSM_HID_USB_COM_BLE_AT\r\n"),
    (.ask(.function), "AT+FSM=?\r\n"), (.set(.role, "ROLE_CENTRAL"), "AT+ROLE=ROLE_CENTRAL\r\n"),
    (.set(.role, "ROLE_PERIPHERAL"), "AT+ROLE=ROLE_PERIPHERAL\r\n"),
    (.set(.minimumInterval, "10"), "AT+MIN_INTERVAL=10\r\n"), (.set(.maximumInterval, "40"), "AT+MAX_INTERVAL=40\r\n"),
    (.set(.speed, "115200"), "AT+UART=115200\r\n"), (.ask(.speed), "AT+UART=?\r\n"),
    (.set(.bind, "0x0017ea9397e1"), "AT+BIND=0x0017ea9397e1\r\n"),
    (.set(.connectMode, "UNIQUE"), "AT+CMODE=UNIQUE\r\n"),
    (.set(.connectMode, "ANYONE"), "AT+CMODE=ANYONE\r\n"), (.ask(.address), "AT+MAC=?\r\n"),
    (.set(.name, "Bluno"), "AT+NAME=Bluno\r\n"), (.ask(.name), "AT+NAME=?\r\n"),
    (.set(.setting, "DEFAULT"), "AT+SETTING=DEFAULT\r\n"),
    (.set(.setting, "DEFPERIPHERAL"), "AT+SETTING=DEFPERIPHERAL\r\n"),
    (.set(.setting, "DEFCENTRAL"), "AT+SETTING=DEFCENTRAL\r\n"), (.set(.blunoDebug, "ON"), "AT+BLUNODEBUG=ON\r\n"),
    (.set(.usbDebug, "OFF"), "AT+USBDEBUG=OFF\r\n"), (.set(.power, "0"), "AT+TXPOWER=0\r\n"),
    (.set(.power, "-23"), "AT+TXPOWER=-23\r\n"), (.set(.beacons, "ON"), "AT+IBEACONS=ON\r\n"),
    (.set(.major, "65535"), "AT+MAJOR=65535\r\n"), (.ask(.minor), "AT+MINOR=?\r\n"),
    (.ask(.version), "AT+VERSION=?\r\n"),
    (.ask(.signalStrength), "AT+RSSI=?\r\n"), (.set(.key, "a"), "AT+KEY=a\r\n"), (.other("AT+USAGE"), "AT+USAGE\r\n"),
  ]

  @Test(arguments: vectors) func aBoardsCommandIsEncodedAndReadBack(command: BlunoCommand, wire: String) throws {
    #expect(try command.encoded() == Array(wire.utf8))
    #expect(try BlunoCommand(decoding: Array(wire.utf8)) == command)
  }

  @Test func wrongCommandsOfABoardAreRefused() {
    let refused: [BlunoCommand] = [
      .set(.address, "001122334455"), .set(.version, "V2"), .set(.signalStrength, "1"), .set(.role, "CENTRAL"),
      .set(.name, ""), .set(.name, "?"), .set(.name, "fourteen bytes"), .set(.name, "a\r\nAT+X"), .set(.speed, "fast"),
      .set(.speed, "0"), .set(.minimumInterval, "0"), .set(.major, "65536"), .set(.bind, "0x0017ea9397e"),
      .set(.power, "6"), .set(.key, String(repeating: "x", count: 65)), .set(.key, "\u{1B}"), .other("+++"),
      .other("AT\n"), .other("ATé"),
    ]
    for command in refused { #expect(throws: BlunoError.self) { try command.encoded() } }
    for wire in ["", "++", "hello", "AT\u{7}"] {
      #expect(throws: BlunoError.self) { try BlunoCommand(decoding: Array(wire.utf8)) }
    }
    // What a board doesn't know, or not so.
    for line in ["AT+ROLE=X", "AT+MAC=1", "AT+FOO=?", "AT+NAME="] {
      let read = try? BlunoCommand(decoding: Array(line.utf8))
      #expect(read == .other(line))
    }
  }

  private func read(_ bytes: [UInt8], silence: Bool = false) -> [BlunoReply] {
    var codec = BlunoReply.codec
    var batch = codec.received(bytes)
    if silence { codec.idle(into: &batch) }
    return batch.payloads.map { BlunoReply(decoding: $0) }
  }

  @Test func aBoardsRepliesAreReadHoweverTheyAreCut() {
    #expect(read(Array("OK\r\n".utf8)) == [.ok])
    #expect(read(Array("Enter AT Mode\r\n".utf8)) == [.enteredATMode])
    #expect(read(Array("\0\u{1}Enter AT Mode".utf8), silence: true) == [.enteredATMode])
    #expect(read(Array("V1.97\r\nOK\r\n".utf8)) == [.value("V1.97"), .ok])
    #expect(read(Array("OK".utf8)) == [] && read(Array("OK".utf8), silence: true) == [.ok])
    #expect(read(Array("noise\u{1B}[2J\r\nOK\r\n".utf8)) == [.value("noise\u{1B}[2J"), .ok])
    for reply in [BlunoReply.ok, .enteredATMode, .value("115200,8,N,1"), .value("FSM_TRANS_USB_COM_BLE")] {
      #expect(read(reply.encoded) == [reply])
    }
    let stream = Array("Enter AT Mode\r\nOK\r\n115200,8,N,1\r\n-06\r\nbroken\rline\nOK\r\n".utf8)
    expectSameForAnyCuts(BlunoReply.codec, stream)
  }

  @Test func aBoardsValuesAreReadAsNumbersAndFlags() {
    #expect(BlunoReply.value("115200,8,N,1").number(of: .speed) == 115_200)
    #expect(BlunoReply.value("000").number(of: .power) == 0 && BlunoReply.value("-06").number(of: .power) == -6)
    #expect(BlunoReply.value("-000").number(of: .signalStrength) == nil)
    #expect(BlunoReply.value("-061").number(of: .signalStrength) == -61)
    #expect(BlunoReply.value("00000").number(of: .major) == 0 && BlunoReply.ok.number(of: .major) == nil)
    #expect(BlunoReply.value("12").number(of: .name) == nil && BlunoReply.value("x").number(of: .speed) == nil)
    #expect(BlunoReply.value("0x8A6D3B8A6D3B").address?.digits == "8A6D3B8A6D3B")
    #expect(BlunoReply.value("8A6D3B8A6D3B").address != nil && BlunoReply.value("UNKNOWN").address == nil)
    #expect(BlunoReply.value("ON").flag == true && BlunoReply.value("OFF").flag == false && BlunoReply.ok.flag == nil)
    #expect(BlunoParameter.speed.factoryText == "115200,8,N,1" && BlunoParameter.bind.factoryText == "0x8A6D3B8A6D3B")
    for parameter in BlunoParameter.allCases {
      for choice in parameter.choices ?? [] {
        let wire = try? BlunoCommand.set(parameter, choice).encoded()
        #expect(wire == Array("AT+\(parameter.rawValue)=\(choice)\r\n".utf8))
      }
    }
  }
}
