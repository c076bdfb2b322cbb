// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Batteries that are read by Bluetooth: their records in packets, whatever happens to these.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AirBatteryTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  private static func frames(_ bytes: [UInt8], _ codec: inout DescribedCodec) -> [(DescribedHeader, [UInt8])] {
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(bytes.span.bytes, into: &batch)
    return (0..<batch.count).filter { batch.outcome(at: $0) == .whole }.map {
      (batch.header(at: $0), batch.payloadBytes(at: $0))
    }
  }

  /// The bytes of the first example that a pack answers this request with.
  private static func received(_ request: String, of description: ProtocolDescription) throws -> [UInt8] {
    let place = try #require(description.request(named: request))
    return try #require(description.examples.first { $0.request == place && !$0.isRefused && !$0.received.isEmpty })
      .received
  }

  /// Records of 300 bytes come in several packets. Wherever one is cut, nothing is read from it, and the next is whole.
  @Test(arguments: ["jk02", "neey"]) func aRecordThatIsCutAnywhereIsNoRecord(kind: String) throws {
    let description = try Self.description(kind)
    let record = try Self.received("state", of: description)
    #expect(record.count == 300)
    for length in 1..<300 {
      var codec = try DescribedCodec(description)
      #expect(Self.frames(Array(record.prefix(length)), &codec).isEmpty, "\(length)")
      let again = Self.frames(record + record, &codec)
      #expect(again.count == 2 && again.allSatisfy { $0.1 == record }, "\(length)")
    }
  }

  /// What the examples of each kind on the air receive, cut at every byte: no frame comes before it is whole, and none that isn't there.
  @Test func whateverIsCutInventsNothing() throws {
    for name in DescriptionLibrary.builtIn.names {
      let description = try Self.description(name)
      guard description.bluetooth != nil else { continue }
      for example in description.examples where !example.received.isEmpty {
        var whole = try DescribedCodec(description)
        let all = Self.frames(example.received, &whole)
        var codec = try DescribedCodec(description)
        var found: [(DescribedHeader, [UInt8])] = []
        for byte in example.received {
          found += Self.frames([byte], &codec)
          #expect(found.count <= all.count && zip(found, all).allSatisfy { $0.1 == $1.1 }, "\(name)")
        }
      }
    }
  }

  /// As packets of any size, and with what the module's own commands leave between them.
  @Test(arguments: [1, 20, 128, 244]) func recordsComeInPacketsOfAnySize(size: Int) throws {
    let description = try Self.description("jk02")
    let bytes = Array("AT\r\n".utf8) + (try Self.received("state", of: description)) + Array("AT\r\n".utf8)
    var codec = try DescribedCodec(description)
    var count = 0
    for start in stride(from: 0, to: bytes.count, by: size) {
      count += Self.frames(Array(bytes[start..<min(start + size, bytes.count)]), &codec).count
    }
    #expect(count == 1)
  }

  /// Where the fields are depends on a version that another record told. Without it nothing is read.
  @Test func withoutItsVersionNothingIsReadFromARecord() throws {
    let description = try Self.description("jk02")
    var codec = try DescribedCodec(description)
    let decoder = MessageDecoder(codec)
    let (header, content) = try #require(Self.frames(try Self.received("state", of: description), &codec).first)
    let state = try #require(description.message(named: "state"))
    let without = decoder.decode(state, header, content.span.bytes)
    #expect(without.values.allSatisfy { $0.value == .nothing } && without.problemCount == 1)
    let with = decoder.decode(state, header, content.span.bytes, known: ["generation": 10])
    #expect(with["battery.voltage"]?.value.asNumber == 52.971)
  }

  /// A frame whose kind, register or version is another one is none of the messages that have it: nothing is read from it.
  @Test func framesOfAnotherVersionInventNothing() throws {
    var kinds: Set<String> = []
    for name in DescriptionLibrary.builtIn.names {
      let description = try Self.description(name)
      guard description.bluetooth != nil else { continue }
      var codec = try DescribedCodec(description)
      let decoder = MessageDecoder(codec)
      for example in description.examples where !example.received.isEmpty {
        for (header, content) in Self.frames(example.received, &codec) {
          guard let message = decoder.message(header, content.span.bytes) else { continue }
          for condition in description.messages[message].conditions where !condition.isNegated {
            let known = Set(
              description.messages.flatMap(\.conditions).filter { $0.element == condition.element }.flatMap(\.values))
            let other = try #require((0...255).first { !known.contains($0) })
            var numbers: [Int: Int] = [:]
            for element in 0..<64 { numbers[element] = decoder.number(element, header, content.span.bytes) }
            numbers[condition.element] = other
            guard let bytes = try? codec.frame(header.framing, numbers, body: Array(content[header.body])) else {
              continue
            }
            // A length is computed, so it stays; and other bytes may be a frame of another kind.
            for (again, content) in Self.frames(bytes, &codec) where again.framing == header.framing {
              guard decoder.number(condition.element, again, content.span.bytes) == other else { continue }
              let read = decoder.message(again, content.span.bytes).map { description.messages[$0] }
              #expect(read?.conditions.contains { $0.element == condition.element && !$0.isNegated } != true, "\(name)")
              kinds.insert(name)
            }
          }
        }
      }
    }
    #expect(kinds.count >= 18, "\(kinds.sorted())")
  }

  /// What nobody knows is told in the error, with its numbers.
  @Test func aDeviceOfAnotherVersionIsToldOf() async throws {
    let description = try Self.description("victron-ble")
    var frame = try #require(description.examples.first { !$0.isRefused && $0.received.count > 8 }).received
    // The kind of the readout.
    frame[8] = 0x7F
    let (transport, clock) = (MemoryTransport(label: "shunt"), ManualClock())
    let accessory = try await DescribedAccessory.open(AccessorySession(transport), description, clock: clock)
    transport.receive(frame)
    try await eventually("it was seen") { accessory.link.statistics.link.unexpected == 1 }
    let reading = Task { () async -> AccessoryError? in
      do throws(AccessoryError) {
        _ = try await accessory.battery()
        return nil
      } catch {
        return error
      }
    }
    try await eventually("it waits") { clock.pendingCount > 0 }
    clock.advance(by: .seconds(30))
    let error = await reading.value
    #expect(error?.kind == .timedOut)
    let message = error?.message ?? ""
    #expect(message.contains("but 1 that victron-ble doesn't describe, the last with"), "\(message)")
    #expect(message.contains("readout 127"), "\(message)")
    await accessory.close()
  }

  /// A request with a PIN is left out where the user gave none, and a wrong PIN is an error.
  @Test func aPINIsToldWhereThereIsOne() async throws {
    let description = try Self.description("jbd")
    let basic = try Self.received("basic", of: description)
    let ask: [UInt8] = [0xDD, 0xA5, 3, 0, 0xFF, 0xFD, 0x77]
    let open: [UInt8] = [0xFF, 0xAA, 0x15, 6] + Array("001234".utf8) + [0x45]
    let plain = AccessoryScript([.expect(ask), .send(basic)])
    await (try await DescribedAccessory.open(AccessorySession(plain.transport), description)).close()
    try plain.check()
    let right = AccessoryScript([
      .expect(open), .send([0xFF, 0xAA, 0x15, 1, 0, 0x16]), .expect(ask), .send(basic),
    ])
    let opened = description.setting(["pin": 1_234])
    await (try await DescribedAccessory.open(AccessorySession(right.transport), opened)).close()
    try right.check()
    let wrong = AccessoryScript([.expect(open), .send([0xFF, 0xAA, 0x15, 1, 1, 0x17])])
    do {
      _ = try await DescribedAccessory.open(AccessorySession(wrong.transport), opened)
      Issue.record("a wrong PIN opened it")
    } catch {
      #expect(error.kind == .unsupported && error.message.contains("pin_is is wrong, not right"), "\(error)")
    }
    try wrong.check()
  }

  // MARK: - Which kind it is

  private static func device(
    _ name: String?, services: [String], manufacturers: [UInt16] = [], at address: String = "C8:47:8C:11:22:33",
    data: [UInt16: [UInt8]] = [:]
  ) throws -> Device {
    let address = try #require(BluetoothAddress(address))
    var device = Device(.ble(address), source: .bluetooth, name: name)
    var bluetooth = BluetoothIdentity(address, adapter: "hci0")
    bluetooth.toldName = name
    bluetooth.services = try services.map { try #require(BluetoothUUID($0)) }
    bluetooth.manufacturers = (manufacturers + data.keys).sorted()
    bluetooth.manufacturerData = data
    device.bluetooth = bluetooth
    return device
  }

  @Test(
    arguments: [
      ("JBD-SP04", ["ff00"], [], ["jbd"]), ("JK-B2A8S20P", ["ffe0"], [0x0B65], ["jk02"]),
      ("JK-B2A8S20P", ["ffe0"], [], []), ("DL-401", ["fff0"], [], ["daly-d2"]),
      ("ANT-BLE20PHUB", ["ffe0"], [], ["ant"]), ("ANT-BLE01", ["ffe0"], [], ["ant-legacy"]),
      ("L-12100BNNA70", ["ffe0"], [0x585A], ["litime"]), ("L-12100BNNA70", ["ffe0"], [], []),
      ("SOK-24V1127", ["fff0"], [], ["abc-bms"]), ("G-12V150Ah-0123", [], [], ["ej"]),
      (" B12100A 220600016 ", ["ffe0"], [0x01A8], ["roypow"]), ("BP02", ["ff00"], [], ["seplos2"]),
      (nil, [], [0xD6C0], ["tdt"]),
      ("HS020603AW26030934", ["ffe1", "ffe0"], [0x7B26], ["tdt"]), ("HS30A3", ["ff00", "0001"], [], ["humsienk"]),
      ("BT270-2", [], [0x0302], ["daly-d2"]), ("DWF3C8A1F7C1235", ["ff00"], [], []),
      ("ANT-BLE22AACB-0489", ["ffe0"], [], ["ant-legacy"]), ("ANT@BLE24CBUB-1231", ["ffe0"], [], ["ant"]),
      ("LT-12100BG-A07003", ["ffe0"], [0x585A], ["litime"]), ("LT-12100BG-A06003", ["ffe0"], [0x585A], ["ej"]),
      ("LT-24100B-A00211", ["ffe0"], [0x585A], ["ej"]), ("LT-24100B-A00311", ["ffe0"], [0x585A], ["litime"]),
      ("T-12100", ["ffe0"], [0x585A], ["litime"]), ("ST48-200", ["fff0"], [], ["seplos3"]), ("BP012", ["ff00"], [], []),
      ("250320512100045", ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"], [], ["vatrer"]),
      ("23-01-05-034", ["af30"], [], ["lipower"]),
      ("170C000E56", ["fff0", "ffb0"], [0x4243], ["cbt"]), ("LEDBlue-1234", ["ffe5"], [], []),
      ("TP_123456", [], [], ["tianpwr"]),
      ("$Battery", ["ffe0"], [0xFFFF], ["topband"]), ("F100011002424470238", [], [], ["felicity"]),
      ("F100011002424470238", ["6e6f736a-4643-4d44-8fa9-0fafd005e455"], [], ["felicity"]),
      ("EK-B24S8E200A", ["fee7"], [], ["neey"]), ("GW-24S4EB", ["fee7"], [], ["neey"]),
      ("BL-48100", ["ff00"], [0x7B], ["braunpwr"]), ("CDZG1", [], [], ["buknuwo"]),
      ("MEY-12320-A00898", [], [], ["buknuwo"]),
      ("CDZG1", ["00002760-08c2-11e1-9073-0e8ac72e1001"], [], ["buknuwo"]),
      ("SmartShunt HQ2222ABCDE", [], [0x02E1], ["victron-ble"]),
      ("ECO-WORTHY 02_B8EF", ["fff0"], [], ["ecoworthy"]), ("HMSoft", ["ffe0"], [], []), (nil, ["ff00"], [], []),
    ] as [(String?, [String], [UInt16], [String])])
  func aBatteryIsKnownByWhatItTells(
    name: String?, services: [String], manufacturers: [UInt16], kinds: [String]
  ) throws {
    let device = try Self.device(name, services: services, manufacturers: manufacturers)
    #expect(DriverLibrary.builtIn.kindsOnAir(device).map(\.kind) == kinds)
  }

  /// By the beginning of its address, and by how its company's data begin.
  @Test func aBatteryIsKnownByItsAddressAndItsData() throws {
    func kinds(_ device: Device) -> [String] { DriverLibrary.builtIn.kindsOnAir(device).map(\.kind) }
    #expect(kinds(try Self.device("gokwh battery", services: ["ff00"], at: "A5:C2:37:29:1A:41")) == ["jbd"])
    #expect(kinds(try Self.device(nil, services: ["ff00"], at: "70:3E:97:D1:C1:8C")) == ["jbd"])
    #expect(kinds(try Self.device("gokwh battery", services: ["ffe0"], at: "A5:C2:37:29:1A:41")) == [])
    #expect(kinds(try Self.device("Bat1", services: [], data: [0x45CC: [0xA5, 0]])) == ["eg4"])
    #expect(kinds(try Self.device("Bat1", services: [], data: [0x45CC: [0xA6, 0]])) == [])
    #expect(kinds(try Self.device("B7522603211101", services: [], data: [0xFFFF: [0x4E]])) == ["gobel"])
  }

  /// Who asks a device without a driver learns what it looks like, and which driver that would be.
  @Test func whatADeviceLooksLikeIsToldWhereItsDriverIsMissing() throws {
    let device = try Self.device("JBD-SP04", services: ["ff00"])
    let error = DeviceOpener(device, drivers: .builtIn).withoutDriver
    #expect(error.message.contains("looks like jbd") && error.message.contains("--driver jbd"), "\(error)")
    let other = DeviceOpener(try Self.device("HMSoft", services: ["ffe0"]), drivers: .builtIn).withoutDriver
    #expect(other.message.contains("the protocol of ble:C8:47:8C:11:22:33 is unknown"), "\(other)")
  }

  /// A renogy battery is written in one service, and sends in another.
  @Test func characteristicsMayBeInDifferentServices() throws {
    let gatt = try #require(DriverLibrary.builtIn.driver(named: "renogy-battery")).gatt
    #expect(gatt.service == nil && gatt.write?.description == "ffd1" && gatt.notify?.description == "fff1")
    #expect(DriverLibrary.builtIn.driver(named: "jk")?.gatt == GATTSettings())
  }
}
