// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers
@testable import AccessoryProtocols

/// Victron's Instant Readout: what devices have sent, with their keys, and what victron-ble (Unlicense) reads of it.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct VictronTests {
  /// What was advertised, by its key, and some of its values.
  private static let readouts: [(key: String, data: String, message: String, values: [String: String])] = [
    (
      "adeccb947395801a4dd45a2eaa44bf17", "100242a0016207adceb37b605d7e0ee21b24df5c", "solar_charger",
      [
        "device_state": "absorption", "battery.voltage": "13.88", "battery.current": "1.4", "yield_today": "0.03",
        "panel_power": "19", "load_current": "0",
      ]
    ),
    (
      "aff4d0995b7d1e176c0c33ecb9e70dcd", "100289a302b040af925d09a4d89aa0128bdef48c6298a9", "battery_monitor",
      [
        "aux_input": "none", "consumed": "-50", "battery.current": "0", "battery.time_to_empty": "unknown",
        "battery.percent": "50", "battery.voltage": "12.53",
      ]
    ),
    (
      "0da694539597f9cf6c613cde60d7bf05", "1000a4a3025f150d8dcbff517f30eb65e76b22a04ac4e1", "battery_monitor",
      ["battery.temperature": "22.5", "battery.voltage": "12.22", "battery.current": "unknown"]
    ),
    (
      "64ba49f1a8562e45197a8e1fe50d7658", "1000c0a304121d64ca8d442b90bbdf6a8cba", "converter",
      ["device_state": "off", "error": "none", "input_voltage": "13.15", "output_voltage": "unknown"]
    ),
    (
      "c129cf8f75c3fe5a1655b481e205fb7d", "100030a308f926c1b5170a0d2280335bf12d5ed083", "ac_charger",
      [
        "device_state": "storage", "battery.voltage": "13.49", "battery.current": "0.4", "current_2": "unknown",
        "temperature": "21", "ac_current": "unknown",
      ]
    ),
    (
      "fac570d66380b797a5b7543758be00e4", "1080b0a3093523fadedea38b1af8bcbde91ca8b6dbb60e", "battery_protect",
      ["device_state": "active", "output_state": "on", "battery.voltage": "13.07", "output_voltage": "13.07"]
    ),
    (
      "346c410e8c824dd723c0f5b13b9eabc8", "100043a40bf4e434af0e46c3b8eb68e08e616993f70c", "multi_rs",
      [
        "device_state": "inverting", "battery.current": "-12.8", "battery.voltage": "51.71",
        "ac_input": "not-connected", "ac_output_power": "722", "yield_today": "5.32",
      ]
    ),
    (
      "da3f5fa2860cb1cf86ba7a6d1d16b9dd", "100380270c1252dad26f0b8eb39162074d140df410", "ve_bus",
      [
        "device_state": "float", "battery.voltage": "14.45", "battery.current": "23.2", "ac_input": "ac-in-1",
        "ac_input_power": "1459", "ac_output_power": "1046", "battery.temperature": "32", "battery.percent": "unknown",
      ]
    ),
    (
      "da3f5fa2860cb1cf86ba7a6d1d16b9dd", "100380270ce1b2dabd34912a6ecec963899227a220", "ve_bus",
      ["device_state": "inverting", "battery.current": "-5.9", "ac_input_power": "0", "ac_output_power": "45"]
    ),
    (
      "aff4d0995b7d1e176c0c33ecb9e70dcd", "100289a30d787fafde83ccec982199fd815286", "dc_meter",
      ["meter": "dc-dc-charger", "battery.voltage": "12.52", "battery.current": "0", "starter_voltage": "-0.01"]
    ),
  ]

  private static func description() throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described("victron-ble")).description
  }

  @Test(arguments: readouts.indices) func whatDevicesHaveSentIsRead(index: Int) throws {
    let readout = Self.readouts[index]
    let description = try Self.description()
    let advertisement = try #require(description.advertisement)
    let made = AdvertisementReader(advertisement, key: Hexadecimal.bytes(readout.key))
    var reader = try #require(made)
    let data = try #require(Hexadecimal.bytes(readout.data))
    let read = try reader.frame(of: data, at: MonotonicTime(nanoseconds: 0))
    let frame = try #require(read)
    var codec = try DescribedCodec(description)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(frame.span.bytes, into: &batch)
    #expect(batch.count == 1 && batch.outcome(at: 0) == .whole)
    let decoder = MessageDecoder(codec)
    let (header, content) = (batch.header(at: 0), batch.payloadBytes(at: 0))
    let fitting = decoder.message(header, content.span.bytes)
    let message = try #require(fitting)
    #expect(description.messages[message].name == readout.message)
    let decoded = decoder.decode(message, header, content.span.bytes)
    #expect(decoded.problemCount == 0)
    for (name, expected) in readout.values {
      #expect(decoded[name]?.value.asExampleText == expected, "\(name)")
    }
  }

  // MARK: - The accessory

  private static func frame(_ readout: UInt8, _ body: [UInt8]) -> [UInt8] {
    let data: [UInt8] = [0x10, 2, 0x89, 0xA3, readout, 1, 0, 0xAF] + body
    return [0xFF, 0xE1, 2, UInt8(data.count)] + data
  }

  /// What comes before anybody can subscribe is a reading, too.
  @Test func theFirstOneIsRead() async throws {
    let body = try #require(Hexadecimal.bytes("ffffe50400000000030000f40140df"))
    let script = AccessoryScript([.send(Self.frame(2, body))])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), try Self.description())
    #expect(try await accessory.battery().percent == 50)
    await accessory.close()
  }

  @Test func aReadoutThatNobodyDescribesIsNamed() async throws {
    let script = AccessoryScript([.send(Self.frame(0x3F, [1, 2, 3]))])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), try Self.description())
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .timedOut && error?.message.contains("readout 63") == true, "\(String(describing: error))")
    await accessory.close()
  }

  // MARK: - Its key

  private static func profile(_ key: String, _ more: String = "") throws(ProfileProblems) -> Profile {
    let text = """
      name: shunt
      match: {bluetooth: {address: "E1:2B:44:0A:11:22"}}
      transport: {ble: {\(key)}}
      protocol: victron-ble
      \(more)
      """
    return try ProfileReader.read(Array(text.utf8), file: "f", drivers: .builtIn, protocols: .builtIn)
  }

  @Test func theKeyIsInTheProfileOrInAFile() async throws {
    let digits = "aff4d0995b7d1e176c0c33ecb9e70dcd"
    let inline = try Self.profile("key: \(digits)")
    #expect(inline.transport.advertisementKey == .bytes(Hexadecimal.bytes(digits)!))
    #expect(try Self.reread(inline) == inline)
    #expect(inline.allowsConnecting, "nothing is connected, so nobody has to allow it")
    #expect(try !Self.profile("key: \(digits)", "connect: refused").allowsConnecting)
    let directory = try TemporaryDirectory()
    try directory.write(Array((digits.uppercased() + "\n").utf8), to: "key")
    let file = try Self.profile("key_file: \(directory.path)/key")
    #expect(try Self.reread(file) == file)
    #expect(try await file.transport.advertisementKey?.read(for: "x") == Hexadecimal.bytes(digits))
    for text in ["", "aff4", digits + "00", String(repeating: "z", count: 32)] {
      try directory.write(Array(text.utf8), to: "key")
      let error = await #expect(throws: AccessoryError.self) {
        try await file.transport.advertisementKey?.read(for: "x")
      }
      #expect(error?.kind == .misconfigured && error?.message.contains("32 hexadecimal digits") == true)
    }
    let missing = await #expect(throws: AccessoryError.self) {
      try await AdvertisementKey.file("/nowhere/key").read(for: "x")
    }
    #expect(missing?.kind == .notFound)
  }

  private static func reread(_ profile: Profile) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(
      Array(ProfileText.text(profile).utf8), file: "f", drivers: .builtIn, protocols: .builtIn)
  }

  @Test(
    arguments: ["key: aff4", "key: zff4d0995b7d1e176c0c33ecb9e70dcd", "key_file: key", "key: 1, key_file: /key"])
  func aWrongKeyInAProfileIsAnErrorThatDoesNotShowIt(key: String) {
    do throws(ProfileProblems) {
      _ = try Self.profile(key)
      Issue.record("\(key) was read")
    } catch {
      #expect(error.problems.count >= 1 && !"\(error)".contains("aff4"), "\(error)")
    }
  }

  @Test func withoutAKeyNothingIsOpened() async throws {
    var device = Device(.ble(try #require(BluetoothAddress("E1:2B:44:0A:11:22"))), source: .bluetooth, name: nil)
    device.driver = "victron-ble"
    let opener = DeviceOpener(device, drivers: .builtIn)
    let error = await #expect(throws: AccessoryError.self) { try await opener.accessory() }
    #expect(error?.kind == .misconfigured && error?.message.contains("key_file") == true)
  }

  /// Who has found one gets a profile that says where its key belongs.
  @Test func aFoundOneGetsAProfileWithAPlaceForItsKey() throws {
    let address = try #require(BluetoothAddress("E1:2B:44:0A:11:22"))
    var device = Device(.ble(address), source: .bluetooth, name: "SmartShunt HQ2222ABCDE")
    var bluetooth = BluetoothIdentity(address, adapter: "hci0")
    bluetooth.manufacturers = [0x02E1]
    device.bluetooth = bluetooth
    let finds = DriverLibrary.builtIn.kindsOnAir(device)
    #expect(finds.map(\.kind) == ["victron-ble"])
    let profile = try #require(IdentifiedProfile(finds[0], at: device, drivers: .builtIn))
    #expect(profile.text.contains("ble: {key_file: /etc/accessory-bridge/keys/my-victron-ble}"))
  }

  // MARK: - The language

  private static func problems(_ advertisement: String, _ more: String = "") -> String {
    let text = """
      protocol: x
      version: 1
      advertisement: {\(advertisement)}
      framings: {f: {layout: [{start: FF E1 02}, {length: {type: u8, of: data}}, data]}}
      \(more)
      """
    do throws(ProfileProblems) {
      _ = try DescriptionReader.read(Array(text.utf8), file: "f", drivers: DriverLibrary())
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func whatIsWrongInADescription() {
    #expect(Self.problems("manufacturer: 0x02E1") == "")
    #expect(Self.problems("begins: 10").contains("manufacturer is missing"))
    #expect(Self.problems("manufacturer: 70000").contains("65535"))
    for counter in [
      "{nonce: 5..6}", "{from: 8}", "{nonce: 8..9, from: 8}", "{nonce: 0..12, from: 14}",
      "{nonce: 5..6, from: 8, key_byte: 8}",
      "{nonce: x, from: 8}", "{nonce: 5..6, from: 300}",
    ] {
      #expect(Self.problems("manufacturer: 1, aes_ctr: \(counter)") != "", "\(counter)")
    }
    #expect(Self.problems("manufacturer: 1", "line: {baud: 9600}").contains("can't be combined with advertisement"))
  }

  /// Bits may be a number with a sign.
  @Test(arguments: [(0x00_0000, 0), (0x3F_FFFC, 1_048_575), (0xFF_FFFC, -1), (0x80_0000, -2_097_152)])
  func bitsMayHaveASign(sent: Int, value: Int) throws {
    let text = """
      protocol: x
      version: 1
      byte_order: little
      framings: {f: {layout: [{start: FF}, {data: 3}]}}
      messages:
        m: {framing: f, pushed: true, fields: [{name: current, type: u24, bits: 2..23, value: signed}]}
      """
    let description = try DescriptionReader.read(Array(text.utf8), file: "f", drivers: DriverLibrary()).description
    let codec = try DescribedCodec(description, side: .accessory)
    var encoded = try MessageEncoder(codec).frame(0, ["current": .whole(value)], elements: [:])
    let bytes: [UInt8] = [0, 8, 16].map { UInt8(sent >> $0 & 0xFF) }
    #expect(encoded == [0xFF] + bytes)
    encoded[1] |= 3
    var decoding = try DescribedCodec(description)
    var batch = FrameBatch<DescribedHeader>()
    decoding.decode(encoded.span.bytes, into: &batch)
    let decoded = MessageDecoder(decoding).decode(0, batch.header(at: 0), batch.payloadBytes(at: 0).span.bytes)
    #expect(decoded["current"]?.value == .whole(value))
  }
}
