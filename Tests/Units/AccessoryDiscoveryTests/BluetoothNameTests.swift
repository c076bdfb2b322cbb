// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryDiscovery

/// What a user types for a device on the air.
@Suite struct BluetoothNameTests {
  private static func device(
    _ number: UInt64, _ name: String?, told: String? = nil, isPaired: Bool = false, isClassic: Bool = false
  ) -> Device {
    let address = BluetoothAddress(rawValue: 0xA5C2_3700_0000 + number)!
    var device = Device(
      isClassic ? .rfcomm(address, channel: nil) : .ble(address), source: .bluetooth, name: name)
    var bluetooth = BluetoothIdentity(address, adapter: "hci0")
    (bluetooth.toldName, bluetooth.isPaired, bluetooth.signalStrength) = (told ?? name, isPaired, -60)
    bluetooth.hasSerialPort = true
    device.bluetooth = bluetooth
    return device
  }

  private static let lamp = device(1, "Lamp", told: "HMSoft")
  private static let paired = device(2, "Kitchen scale", isPaired: true)
  private static let brick = device(3, "EV3", isClassic: true)
  private static let port = Device(.node("/dev/pts/9991"), source: .simulator, serialNumber: "A5")

  private func resolve(_ text: String?, _ devices: [Device] = [lamp, paired, brick, port]) throws -> Device {
    try DeviceName(text, lookingAtFiles: false).device(among: devices)
  }

  @Test(arguments: [
    ("ble:Lamp", lamp), ("ble:HMSoft", lamp), ("ble:A5:C2:37:00:00:01", lamp), ("ble:a5-c2-37-00-00-01", lamp),
    ("A5:C2:37:00:00:01", lamp), ("ble:Kitchen scale", paired), ("Kitchen scale", paired), ("Kitch", paired),
    ("rfcomm:EV3", brick), ("rfcomm:A5:C2:37:00:00:03", brick),
  ])
  func itsNames(text: String, device: Device) throws { #expect(try resolve(text) == device) }

  /// Nobody's name is changed by what a stranger tells.
  @Test(arguments: ["Lamp", "HMSoft", "ble:Lam", "ble:", "rfcomm:Lamp", "ble:EV3", "ble:lamp", "La"])
  func whatIsNoName(text: String) {
    #expect(throws: ResolutionError.noMatch(text)) { try resolve(text) }
  }

  @Test func aStrangerWithTheBeginningOfASerialNumberIsNotMeant() throws {
    #expect(try resolve("A5") == Self.port)
    #expect(try resolve("A", [Self.lamp, Self.port]) == Self.port)
  }

  @Test func withoutANameNothingOnTheAirIsMeant() throws {
    #expect(try resolve(nil) == Self.port)
    #expect(throws: ResolutionError.noDevices) { try resolve(nil, [Self.lamp, Self.paired]) }
    // The service has it because somebody said so.
    #expect(try DeviceName(nil).device(there: [Self.lamp], awaited: []) == Self.lamp)
  }

  @Test func aStrangerWithTheSameNameGivesWay() throws {
    var impostor = Self.device(9, "Kitchen scale")
    #expect(try resolve("ble:Kitchen scale", [impostor, Self.paired]) == Self.paired)
    impostor.bluetooth?.isPaired = true
    #expect(throws: ResolutionError.ambiguous("ble:Kitchen scale", [impostor, Self.paired])) {
      try resolve("ble:Kitchen scale", [impostor, Self.paired])
    }
  }

  @Test func aUnitBehindAName() throws {
    #expect(try resolve("ble:Lamp@3") == Self.lamp.onLine(unit: 3))
    let odd = Self.device(4, "Lamp@3")
    #expect(try resolve("ble:Lamp@3", [Self.lamp, odd]) == odd)
  }

  @Test func aNameThatIsAnAddressIsOne() throws {
    let trick = Self.device(5, "A5:C2:37:00:00:01")
    #expect(try resolve("ble:A5:C2:37:00:00:01", [trick, Self.lamp]) == Self.lamp)
  }

  @Test func aNameIsSearchedForWhereNobodyKnowsIt() async throws {
    let source = Air(found: Self.lamp)
    #expect(try await DeviceName("ble:Lamp").devices(of: [source]) == [Self.lamp])
    #expect(try await DeviceName("ble:Other").devices(of: [source]) == [])
    #expect(try await DeviceName("Lamp").devices(of: [source]) == [])
    #expect(try await DeviceName("ble:A5:C2:37:00:00:01").devices(of: [source]) == [])
  }
}

/// A source that finds a device only by a search.
private struct Air: DeviceSource {
  let found: Device
  func devices() async throws(AccessoryError) -> [Device] { [] }
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> { AsyncStream { $0.finish() } }
  func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device] {
    wish.fits(found) ? [found] : []
  }
}
