// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities
import Testing

@testable import AccessoryExport

/// The accessories as devices of the native API.
struct KnownDevicesTests {
  private static let start = MonotonicTime(nanoseconds: 10_000_000_000)

  private func box(_ devices: KnownDevices) -> NativeBox {
    var box = NativeBox(name: "box", friendlyName: "Box", mac: [2, 0, 0, 0, 0, 1], version: "1")
    devices.fill(&box)
    return box
  }

  private func devices(
    _ snapshot: ReadingsSnapshot = .sample(), at time: MonotonicTime = start
  ) -> KnownDevices {
    var devices = KnownDevices()
    devices.take(snapshot, at: time)
    return devices
  }

  private func state(_ name: String, _ devices: KnownDevices, device: UInt32? = nil) -> NativeState? {
    let box = box(devices)
    let entity = box.entities.first { $0.name == name && (device == nil || $0.device == device) }
    return entity.flatMap { box.states[$0.id] }
  }

  private func entity(_ name: String, _ devices: KnownDevices) -> NativeEntity? {
    box(devices).entities.first { $0.name == name }
  }

  private static let volume = CommandDescription(
    "volume", "Sets it", [.init("level", .whole(0...10))], settings: [.init("volume", .argument("level"))])

  @Test func anAccessoryIsADeviceWithItsReadings() {
    let devices = devices(
      .sample { $0.accessory.device.given = GivenName(name: "House battery", area: "Attic") })
    let box = box(devices)
    #expect(box.devices.map(\.name) == ["House battery"] && box.areas == ["Attic"] && box.devices[0].id != 0)
    #expect(state("Battery", devices) == .number(57))
    #expect(state("Battery voltage", devices) == .number(3.712))
    #expect(state("Charging", devices) == .flag(true))
    #expect(state("Connected", devices) == .flag(true))
    #expect(state("Attached accessories", devices) == .number(1))
    #expect(state("Service", devices) == .flag(true))
    #expect(entity("Battery voltage", devices)?.kind == .sensor(unit: "V", decimals: 2, stateClass: .measurement))
    #expect(entity("Battery", devices)?.deviceClass == "battery")
  }

  /// Home Assistant would delete its entities, with what its user has set.
  @Test func whatIsGoneStaysUnknown() {
    var devices = devices()
    let before = box(devices)
    let gone = ReadingsSnapshot.sample(battery: nil) { $0.accessory.isConnected = false }
    devices.take(gone, at: Self.start + .seconds(1))
    let after = box(devices)
    #expect(after.devices == before.devices && after.entities == before.entities)
    #expect(state("Battery", devices) == nil && state("Connected", devices) == .flag(false))
  }

  @Test func whatIsStaleIsUnknown() {
    let devices = devices(.sample { $0.accessory.isStale = true })
    #expect(state("Battery", devices) == nil && state("Connected", devices) == .flag(true))
  }

  /// Nothing is known while the service doesn't answer, not even that an accessory is gone.
  @Test func withoutAServiceNothingIsKnown() {
    var devices = devices()
    var snapshot = ReadingsSnapshot.sample()
    snapshot.services[0].isUp = false
    devices.take(snapshot, at: Self.start + .seconds(1))
    #expect(state("Battery", devices) == nil && state("Connected", devices) == nil)
    #expect(state("Service", devices) == .flag(false))
  }

  /// A reading changes nothing of what is kept on disk; another name does.
  @Test func onlyChangesOfWhatIsKeptCount() {
    var devices = devices()
    #expect(devices.changes == 1)
    devices.take(.sample(battery: BatteryReading(percent: 12, millivolts: 3600, charge: .charging)), at: Self.start)
    #expect(devices.changes == 1 && state("Battery", devices) == .number(12))
    devices.take(.sample { $0.accessory.device.given = GivenName(name: "House", area: nil) }, at: Self.start)
    #expect(devices.changes == 2)
  }

  /// A restart tells the same devices and entities, also of an accessory that doesn't answer.
  @Test func aRestartKeepsDevicesAndEntities() throws {
    let devices = devices(.sample(values: [AccessoryValue("load", unit: .percent, number: 12)]))
    var again = try KnownDevices(kept: devices.kept)
    #expect(box(again).devices == box(devices).devices && box(again).entities == box(devices).entities)
    #expect(state("Battery", again) == nil)
    again.take(.sample(battery: nil), at: Self.start)
    #expect(Set(box(again).entities) == Set(box(devices).entities))
    again.take(.sample(), at: Self.start)
    #expect(state("Battery", again) == .number(57))
  }

  @Test func aDamagedFileIsRefused() {
    for text in [
      "", "[]", "{\"a\":{}}", "{\"a\":{\"device\":{\"id\":0,\"name\":\"x\",\"area\":\"\"},\"entities\":[]}}",
    ] {
      #expect(throws: (any Error).self) { try KnownDevices(kept: Array(text.utf8)) }
    }
  }

  /// What its service forgets is forgotten after a minute; while no service answers, nothing is.
  @Test func whatTheServiceForgetsEnds() {
    var devices = devices()
    var none = ReadingsSnapshot(services: [.init(path: "/run/a.socket", isUp: true)])
    devices.take(none, at: Self.start)
    #expect(devices.forgetTime == Self.start + KnownDevices.patience)
    #expect(state("Connected", devices) == .flag(false))
    none.services[0].isUp = false
    devices.take(none, at: Self.start + .seconds(100))
    #expect(box(devices).devices.count == 1 && devices.forgetTime == nil)
    none.services[0].isUp = true
    devices.take(none, at: Self.start + .seconds(200))
    #expect(box(devices).devices.count == 1)
    devices.take(none, at: Self.start + .seconds(261))
    #expect(box(devices).devices.isEmpty && box(devices).entities.count == 2)
  }

  /// Two services may have an accessory of the same id.
  @Test func twinsAreTwoDevices() {
    let one = ReadingsSnapshot.sample().accessories[0]
    var other = MirroredAccessory(
      id: 2, service: "/run/a.socket", device: .sample("SIM0001", path: "/dev/pts/8"))
    (other.isRead, other.battery) = (true, BatteryReading(percent: 3))
    let snapshot = ReadingsSnapshot(
      accessories: [one, ExportedAccessory(other, id: "SIM0001#2", name: "SIM0001_2")],
      services: [.init(path: "/run/a.socket", isUp: true)])
    let devices = devices(snapshot)
    let box = box(devices)
    #expect(box.devices.count == 2 && Set(box.devices.map(\.id)).count == 2)
    #expect(Set(box.devices.compactMap { state("Battery", devices, device: $0.id) }) == [.number(57), .number(3)])
  }

  /// A value may have the name of something else. Home Assistant tells entities of a kind apart by their names.
  @Test func equalNamesAreNumbered() {
    let values = ["battery_voltage", "battery-voltage"].map { AccessoryValue($0, unit: .volt, number: 1) }
    let names = box(devices(.sample(values: values))).entities.map(\.name).filter { $0.hasPrefix("Battery voltage") }
    #expect(names == ["Battery voltage", "Battery voltage 2", "Battery voltage 3"])
  }

  @Test func aCommandShowsWhatItSets() throws {
    var devices = devices(
      .sample(values: [AccessoryValue("volume", number: 4)]) { $0.accessory.commands = [Self.volume] })
    let entity = try #require(box(devices).entities.first { $0.isCommand })
    #expect(entity.kind == .number(minimum: 0, maximum: 10, step: 1, unit: "") && entity.category == .configuration)
    #expect(box(devices).states[entity.id] == .number(4))
    let command = try #require(devices.command(entity.id))
    #expect(command.command == Self.volume && command.argument?.name == "level")
    // Where no reading tells it, it is what was set last.
    devices.take(.sample { $0.accessory.commands = [Self.volume] }, at: Self.start)
    #expect(box(devices).states[entity.id] == nil)
    devices.took(.number(7), of: entity.id)
    #expect(box(devices).states[entity.id] == .number(7))
  }

  /// What the configuration doesn't permit any more ends; while the accessory is gone, nobody knows.
  @Test func commandsThatAreNoLongerPermittedEnd() {
    var devices = devices(.sample { $0.accessory.commands = [Self.volume] })
    devices.take(.sample { $0.accessory.isConnected = false }, at: Self.start)
    #expect(box(devices).entities.contains { $0.isCommand })
    devices.take(.sample { $0.accessory.commands = [] }, at: Self.start)
    #expect(!box(devices).entities.contains { $0.isCommand })
  }
}
