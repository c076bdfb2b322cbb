// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import Testing

@testable import AccessoryDrivers

/// Profiles for devices on the air.
@Suite struct BluetoothProfileTests {
  private static let whole = """
    name: pack
    match:
      - bluetooth: {address: "A5:C2:37:00:11:22"}
      - bluetooth: {name: JBD-*, service: ff00, manufacturer: 0x004c}
    transport:
      prefer: ble
      adapter: hci1
      ble: {service: ff00, write: ff02, notify: 6e400003-b5a3-f393-e0a9-e50e24dcca9e, password: it's#1}
      rfcomm: {channel: 3}
    driver: jbd
    connect: allowed
    """

  private static func device(
    _ address: String = "A5:C2:37:00:11:22", name: String? = nil, services: [String] = [], manufacturers: [UInt16] = []
  ) throws -> Device {
    let address = try #require(BluetoothAddress(address))
    var device = Device(.ble(address), source: .bluetooth, name: name)
    var bluetooth = BluetoothIdentity(address, adapter: "hci0")
    bluetooth.services = try services.map { try #require(BluetoothUUID($0)) }
    bluetooth.manufacturers = manufacturers
    device.bluetooth = bluetooth
    return device
  }

  private func read(_ text: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array(text.utf8), file: "f.yaml", drivers: .builtIn)
  }

  @Test func everyKeyIsRead() throws {
    let profile = try read(Self.whole)
    #expect(profile.allowsConnecting && profile.transport.preferredTransport == .ble)
    #expect(profile.transport.rfcommChannel == 3 && profile.transport.bluetoothAdapter?.description == "hci1")
    #expect(profile.wishes.allSatisfy { $0.adapter == profile.transport.bluetoothAdapter })
    #expect(
      profile.transport.gatt.write?.description == "ff02" && profile.transport.gatt.service?.description == "ff00")
    #expect(profile.transport.gatt.password == "it's#1")
    #expect(profile.policies.reconnect.tries == nil && profile.policies.retry.backoffThousandths == 2_000)
    #expect(profile.rules.map { $0.bluetooth?.address?.description } == ["A5:C2:37:00:11:22", nil])
    #expect(try read(ProfileText.text(profile)) == profile, "written and read again it is the same")
  }

  @Test func whatARuleMatches() throws {
    let profile = try read(Self.whole)
    let store = ProfileStore([profile])
    #expect(store.profile(for: try Self.device()) == profile)
    let told = try Self.device("00:00:00:00:00:01", name: "JBD-1", services: ["ff00"], manufacturers: [76])
    #expect(store.profile(for: told) == profile)
    for other in [
      try Self.device("00:00:00:00:00:01", name: "JBD-1", services: ["ff00"]),
      try Self.device("00:00:00:00:00:01", name: "JBD-1", manufacturers: [76]),
      try Self.device("00:00:00:00:00:01", services: ["ff00"], manufacturers: [76]),
    ] {
      #expect(store.profile(for: other) == nil)
    }
    // Somebody has named its address, and nothing knows it yet.
    let named = Device(.ble(try #require(BluetoothAddress("A5:C2:37:00:11:22"))), source: .named)
    #expect(store.profile(for: named) == profile)
  }

  /// What is on the air tells names as it likes.
  @Test func otherRulesMatchNothingOnTheAir() throws {
    let device = try Self.device(name: "Uno", services: ["ff00"])
    #expect(!DeviceRule(name: "Uno").fits(device) && !DeviceRule(driver: "framed").fits(device))
    let profile = try read(Self.whole)
    #expect(!profile.rules.contains { $0.fits(Device(.node("/dev/ttyACM0"), source: .udev, name: "JBD-1")) })
  }

  @Test func anAddressGoesBeforeAName() throws {
    let byName = try read("name: any\nmatch: {bluetooth: {name: JBD-1}}\ndriver: daly")
    let store = ProfileStore([byName, try read(Self.whole)])
    #expect(store.profile(for: try Self.device(name: "JBD-1"))?.name == "pack")
  }

  @Test func wishesAreThoseOfProfilesThatMayConnect() throws {
    var profile = try read(Self.whole)
    #expect(profile.wishes.map { $0.service?.description } == [nil, "ff00"])
    #expect(profile.wishes.allSatisfy { $0.transport == .ble })
    #expect(profile.wishes.first?.fits(try Self.device()) == true)
    profile.allowsConnecting = false
    #expect(profile.wishes.isEmpty)
    let brick = try read("name: b\nmatch: {bluetooth: {name: EV3, service: 1101}}\ndriver: ev3\nconnect: allowed")
    #expect(brick.wishes.map(\.transport) == [.rfcomm])
  }

  @Test(
    arguments: [
      ("match: {bluetooth: {address: A5}}", "A5:C2:37:00:11:22"),
      ("match: {bluetooth: {service: ff0}}", "4 hexadecimal digits"),
      ("match: {bluetooth: {name: x, manufacturer: Apple}}", "company's number"),
      ("match: {bluetooth: {name: x}, serial: y}", "alone in its rule"),
      ("match: {bluetooth: {service: ffe0}}", "strangers'"),
      ("match: {bluetooth: {manufacturer: 0x004c}}", "strangers'"),
      ("match: {bluetooth: {name: '*'}}", "strangers'"),
      ("match: {bluetooth: {mac: x}}", "unknown key"),
      ("match: {serial: A1}\nconnect: allowed", "devices on the air"),
      ("match: {serial: A1}\nconnect: yes", "allowed or refused"),
      ("match: {serial: A1}\ntransport: {ble: {service: x}}", "4 hexadecimal digits"),
      ("match: {serial: A1}\ntransport: {ble: {password: a b}}", "without blanks"),
      ("match: {serial: A1}\ntransport: {rfcomm: {channel: 31}}", "1 to 30"),
      ("match: {serial: A1}\ntransport: {prefer: bluetooth}", "rfcomm"),
      ("match: {serial: A1}\ntransport: {adapter: eth0}", "like hci1"),
    ])
  func mistakesAreTold(text: String, message: String) {
    do throws(ProfileProblems) {
      _ = try read("name: x\n" + text)
      Issue.record("it was accepted")
    } catch {
      #expect(error.problems.count == 1 && error.problems.first?.message.contains(message) == true, "\(error.problems)")
    }
  }

  @Test func aServiceOfItsMakersOwnIsEnough() throws {
    _ = try read("name: x\nmatch: {bluetooth: {service: 12345678-9abc-def0-1234-56789abcdef0}}")
  }
}
