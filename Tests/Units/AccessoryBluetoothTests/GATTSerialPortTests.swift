// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryBluetooth

/// Which characteristics carry the bytes.
@Suite struct GATTSerialPortTests {
  private typealias Table = [(service: GATTService, characteristics: [GATTCharacteristic])]

  private func service(_ uuid: String, _ characteristics: [(String, Set<String>)]) -> Table.Element {
    let path = "/service_" + uuid
    return (
      GATTService(path: path, uuid: BluetoothUUID(uuid), device: "/d"),
      characteristics.map { uuid, flags in
        GATTCharacteristic(path: path + "/" + uuid, uuid: BluetoothUUID(uuid), service: path, flags: flags)
      }
    )
  }

  @Test(arguments: [
    ("ffe0", "ffe1", "ffe1"),
    (
      "6e400001-b5a3-f393-e0a9-e50e24dcca9e", "6e400002-b5a3-f393-e0a9-e50e24dcca9e",
      "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
    ), ("dfb0", "dfb1", "dfb1"), ("fff0", "fff2", "fff1"),
    ("ff00", "ff02", "ff01"),
  ])
  func knownKinds(_ uuid: String, _ write: String, _ notify: String) throws {
    let both: [(String, Set<String>)] = [(write, ["notify", "write-without-response"])]
    let two: [(String, Set<String>)] = [(notify, ["notify"]), (write, ["write-without-response"])]
    let characteristics = write == notify ? both : two
    let table = [service("180a", [("2a29", ["read"])]), service(uuid, characteristics)]
    let port = try GATTSerialPort(in: table, GATTSettings(), label: "ble:x")
    #expect(port.write.uuid == BluetoothUUID(write) && port.notify.uuid == BluetoothUUID(notify))
    #expect(GATTSerialPort.isKnown(try #require(BluetoothUUID(uuid))))
  }

  @Test func namedCharacteristics() throws {
    let table = [
      service("ffe0", [("ffe1", ["notify", "write"])]),
      service("abcd", [("abc1", ["write"]), ("abc2", ["write"]), ("abc3", ["indicate"])]),
    ]
    let named = try #require(GATTSettings("abcd,abc2,abc3"))
    let port = try GATTSerialPort(in: table, named, label: "ble:x")
    #expect(port.write.uuid?.description == "abc2" && port.notify.uuid?.description == "abc3")
    // Two could be written: which one isn't guessed.
    let several = #expect(throws: AccessoryError.self) {
      try GATTSerialPort(in: table, try #require(GATTSettings("abcd")), label: "ble:x")
    }
    #expect(
      several?.message.contains("can be written are abc1, abc2, those that send are abc3") == true, "\(several as Any)")
    #expect(several?.message.contains("--gatt abcd,WRITE,NOTIFY") == true)
    // What is named must fit.
    #expect(throws: AccessoryError.self) {
      try GATTSerialPort(in: table, try #require(GATTSettings("abcd,abc3,abc3")), label: "ble:x")
    }
  }

  // MARK: - What is told first

  /// A characteristic that a description names is told what it says, in whichever service it is; a device without it isn't.
  @Test func aDescriptionMaySayWhatIsToldFirst() throws {
    let port: [(String, Set<String>)] = [("fff1", ["notify"]), ("fff2", ["write-without-response"])]
    var settings = GATTSettings(write: BluetoothUUID("fff2"), notify: BluetoothUUID("fff1"))
    settings.greeting = .init(BluetoothUUID(short: 0xFFFA), Array("HiLink".utf8))
    let table = [service("fff0", port), service("fff5", [("fffa", ["read", "write"])])]
    let greeting = try #require(try GATTSerialPort(in: table, settings, label: "ble:x").greeting)
    #expect(greeting.characteristic.uuid == BluetoothUUID("fffa") && greeting.packets == [Array("HiLink".utf8)])
    for other in [[service("fff0", port)], [service("fff0", port), service("fff5", [("fffa", ["read"])])]] {
      #expect(try GATTSerialPort(in: other, settings, label: "ble:x").greeting == nil)
    }
  }

  @Test(arguments: [nil, "0123456789012345"]) func aBlunoWantsItsPasswordAndTheSpeed(password: String?) throws {
    let table = [service("dfb0", [("dfb1", ["notify", "write-without-response"]), ("dfb2", ["write"])])]
    var settings = GATTSettings()
    (settings.password, settings.baudRate) = (password, 9_600)
    let greeting = try #require(try GATTSerialPort(in: table, settings, label: "ble:x").greeting)
    #expect(greeting.characteristic.uuid == BluetoothUUID("dfb2"))
    #expect(greeting.packets.allSatisfy { $0.count <= 20 })
    let text = String(decoding: greeting.packets.joined(), as: UTF8.self)
    #expect(text == "AT+PASSWOR=\(password ?? "DFRobot")\r\nAT+CURRUART=9600\r\n")
    // Who names the same characteristics speaks with the same device.
    settings.service = BluetoothUUID("dfb0")
    settings.write = BluetoothUUID("dfb1")
    settings.notify = BluetoothUUID("dfb1")
    #expect(try GATTSerialPort(in: table, settings, label: "ble:x").greeting == greeting)
  }

  @Test func othersAreToldNothing() throws {
    let withoutCommands = [service("dfb0", [("dfb1", ["notify", "write"])])]
    let readOnly = [service("dfb0", [("dfb1", ["notify", "write"]), ("dfb2", ["read"])])]
    let another = [service("ffe0", [("ffe1", ["notify", "write"]), ("dfb2", ["write"])])]
    for table in [withoutCommands, readOnly, another] {
      #expect(try GATTSerialPort(in: table, GATTSettings(), label: "ble:x").greeting == nil)
    }
  }

  @Test(arguments: ["", "a b", "a\r\nAT+NAME=x", "\u{E9}", String(repeating: "x", count: 33)])
  func whatIsNoPassword(text: String) { #expect(!GATTGreeting.isPassword(text)) }

  @Test func withoutASerialPortTheServicesAreNamed() throws {
    let table = [service("180a", [("2a29", ["read"])])]
    let error = #expect(throws: AccessoryError.self) {
      try GATTSerialPort(in: table, GATTSettings(), label: "ble:x")
    }
    #expect(error?.kind == .unsupported)
    #expect(error?.message.contains("180a (2a29)") == true && error?.message.contains("--gatt") == true)
  }

  @Test(arguments: ["", "ffe", "ffe0,ffe1", "ffe0,ffe1,ffe1,ffe1", "ffe0,,ffe1", "gfe0", "ffe0 ,ffe1,ffe1"])
  func whatIsNoSetting(text: String) { #expect(GATTSettings(text) == nil) }

  @Test func theFormsOfAUUID() {
    #expect(BluetoothUUID("FFE0") == BluetoothUUID("0000ffe0-0000-1000-8000-00805f9b34fb"))
    #expect(BluetoothUUID("FFE0")?.description == "ffe0")
    #expect(BluetoothUUID("12345678")?.description == "12345678-0000-1000-8000-00805f9b34fb")
    #expect(BluetoothUUID("0000ffe0-0000-1000-8000-00805f9b34f") == nil)
    #expect(BluetoothUUID("0000ffe0000010008000-00805f9b34fb") == nil)
  }
}
