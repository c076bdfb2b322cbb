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
  @Test(arguments: ["Lamp", "HMSoft", "ble:Lam", "ble:", "rfcomm:Lamp", "ble:EV3", "La"])
  func whatIsNoName(text: String) {
    let error = #expect(throws: ResolutionError.self) { try resolve(text) }
    guard case .noMatch(text, _)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
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

  /// A name with other capital letters is no name, but the error has the right one.
  @Test(arguments: [
    ("ble:lamp", "ble:Lamp"), ("ble:hci1/hmsoft", "ble:hci1/HMSoft"), ("rfcomm:ev3", "rfcomm:EV3"),
    ("ble:KITCHEN SCALE", "ble:Kitchen scale"),
  ]) func otherCapitalsAreHintedAt(text: String, name: String) {
    let error = #expect(throws: ResolutionError.otherCapitals(text, name)) { try resolve(text) }
    #expect(error?.description.contains("write \(name)") == true)
  }

  /// An address with a channel that there isn't is an error of what was typed, and nothing is searched for.
  @Test(arguments: [
    "rfcomm:A5:C2:37:00:00:03/31", "rfcomm:A5:C2:37:00:00:03/0", "rfcomm:hci0/A5:C2:37:00:00:03/99",
    "rfcomm:a5c237000003/x", "ble:A5:C2:37:00:00:01/3",
  ]) func aChannelThatThereIsNot(text: String) {
    let error = #expect(throws: ResolutionError.malformed(text)) { try resolve(text) }
    #expect(error?.description.contains("AA:BB:CC:DD:EE:FF") == true)
    #expect(DeviceName(text).wish() == nil)
  }

  /// Two strangers with one name: neither is taken, and the message has their addresses.
  @Test func twoDevicesOfOneNameAreRefused() async throws {
    let impostor = Self.device(9, "Lamp")
    let error = #expect(throws: ResolutionError.ambiguous("ble:Lamp", [Self.lamp, impostor])) {
      try resolve("ble:Lamp", [Self.lamp, impostor])
    }
    #expect(error?.description.contains("ble:A5:C2:37:00:00:01, ble:A5:C2:37:00:00:09") == true)
    // One that is in reach already doesn't end the search for others.
    let source = Air(there: [Self.lamp], found: [Self.lamp, impostor])
    let devices = try await DeviceName("ble:Lamp").devices(of: [source])
    #expect(devices == [Self.lamp, impostor])
    // One that somebody has made known goes first.
    let known = Air(there: [Self.paired], found: [Self.device(8, "Kitchen scale")])
    #expect(try await DeviceName("ble:Kitchen scale").devices(of: [known]) == [Self.paired])
  }

  /// A service waits for one; a stranger with its name doesn't get its place.
  @Test func anAwaitedDeviceGoesBeforeAStranger() throws {
    let impostor = Self.device(9, "Lamp")
    #expect(try DeviceName("ble:Lamp").device(there: [impostor], awaited: [Self.lamp]) == Self.lamp)
  }

  @Test func aNameIsSearchedForWhereNobodyKnowsIt() async throws {
    let source = Air(found: [Self.lamp])
    #expect(try await DeviceName("ble:Lamp").devices(of: [source]) == [Self.lamp])
    #expect(try await DeviceName("ble:Lamp@2").devices(of: [source]) == [Self.lamp])
    #expect(try await DeviceName("ble:Other").devices(of: [source]) == [])
    #expect(try await DeviceName("Lamp").devices(of: [source]) == [])
  }

  /// An address is that of the device that is heard there, with all that it tells.
  @Test func anAddressIsSearchedForWhereNobodyKnowsIt() async throws {
    let source = Air(found: [Self.lamp, Self.brick])
    for text in ["ble:A5:C2:37:00:00:01", "ble:a5c237000001", "ble:hci1/A5:C2:37:00:00:01", "ble:A5:C2:37:00:00:01@2"] {
      let name = DeviceName(text)
      #expect(try await name.devices(of: [source]) == [Self.lamp], "\(text)")
      #expect(try name.device(among: try await name.devices(of: [source])).bluetooth == Self.lamp.bluetooth)
    }
    // A channel isn't a part of what the device is.
    let port = DeviceName("rfcomm:A5:C2:37:00:00:03/5")
    let found = try port.device(among: try await port.devices(of: [source]))
    #expect(found.address.description == "rfcomm:A5:C2:37:00:00:03/5" && found.name == "EV3")
    // What is known isn't searched for, and who leaves the search to others doesn't search.
    #expect(DeviceName("ble:A5:C2:37:00:00:01").wish(among: [Self.lamp]) == nil)
    var name = DeviceName("ble:A5:C2:37:00:00:01")
    name.searches = .names
    #expect(try await name.devices(of: [source]) == [])
  }
}

/// A source that finds devices by a search.
private struct Air: DeviceSource {
  var there: [Device] = []
  let found: [Device]
  func devices() async throws(AccessoryError) -> [Device] { there }
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> { AsyncStream { $0.finish() } }
  func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device] {
    found.filter(wish.fits)
  }
}
