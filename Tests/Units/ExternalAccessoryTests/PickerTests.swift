// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import TestSupport
import Testing

@testable import AccessoryBluetooth
@testable import ExternalAccessory

/// A bus that answers what a test says, and a manager that searches there.
private struct Air {
  static let brick = "COM.LEGO.MINDSTORMS.EV3"
  static let adapter = "/org/bluez/hci0"
  static let (near, far) = ("00:16:53:00:00:01", "00:16:53:00:00:02")

  static func interfaces(_ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
    .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))])
  }

  /// A device of Bluetooth Classic that is heard.
  static func device(_ address: String, _ name: String, _ strength: Int16) -> WireValue {
    .entry(
      .path(adapter + "/dev_" + address.replacing(":", with: "_")),
      interfaces(
        "org.bluez.Device1",
        [
          ("Address", .text(address)), ("Name", .text(name)), ("Adapter", .path(adapter)), ("RSSI", .int16(strength)),
          ("Class", .uint32(0x804)),
        ]))
  }

  static let phone = device("AA:BB:CC:DD:EE:FF", "Phone", -30)

  let bus: FakeBus
  let manager: EAAccessoryManager
  /// The devices that were connected.
  let reached = Watched<[String]>([])

  /// These devices are near.
  init(_ devices: [WireValue], isThere: Bool = true, protocols: [String] = [Air.brick]) throws {
    bus = try FakeBus { call in
      guard call.member == "GetManagedObjects" else { return nil }
      let adapter = WireValue.entry(
        .path(Self.adapter), Self.interfaces("org.bluez.Adapter1", [("Powered", .boolean(true))]))
      return .values([.array("{oa{sa{sv}}}", [adapter] + devices)])
    }
    var picker = BluetoothPicker(place: BluetoothPlace(bus: bus.address), time: .milliseconds(1))
    picker.reach = { [reached] opener throws(AccessoryError) in
      reached.update { $0.append(opener.device.address.description) }
      if !isThere { throw AccessoryError(.timedOut, "the brick doesn't answer") }
    }
    manager = EAAccessoryManager(
      sources: [], scanTimeout: devices.isEmpty ? .milliseconds(10) : .seconds(60), services: [], bluetooth: picker)
    manager.pickedProtocolStrings = protocols
  }

  /// The result of the picker for devices that are called so; nil stands for a connected accessory.
  func pick(_ name: String? = "EV3") async -> EABluetoothAccessoryPickerError.Code? {
    let filter = name.map { wanted in NSPredicate { name, _ in (name as? String)?.hasPrefix(wanted) ?? false } }
    let result = Watched<[EABluetoothAccessoryPickerError.Code?]>([])
    manager.showBluetoothAccessoryPicker(withNameFilter: filter) { error in
      #expect(MainQueue.isCurrent)
      result.update { $0.append((error as? EABluetoothAccessoryPickerError)?.code) }
    }
    _ = try? await result.wait { !$0.isEmpty }
    return result.value.first ?? .resultNotFound
  }

  /// What bluetoothd was asked for: it connects and pairs nothing.
  func expectOnlySearches(_ comment: Comment = "only searches") {
    let asked = Set(bus.calls.map(\.member))
    #expect(
      asked.isSubset(of: ["GetManagedObjects", "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery"]), comment)
  }
}

/// The picker by Bluetooth, against a bus that answers what a test says, and bricks that are there or not.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PickerTests {
  @Test func theOnlyOneThatFitsIsConnected() async throws {
    let picker = try Air([Air.phone, Air.device(Air.near, "EV3", -50)])
    let diary = Diary(picker.manager)
    defer { diary.end() }
    picker.manager.registerForLocalNotifications()
    #expect(await picker.pick() == nil)
    let accessory = try #require(picker.manager.connectedAccessories.first)
    #expect(accessory.name == "EV3" && accessory.protocolStrings == [Air.brick] && accessory.isConnected)
    #expect(picker.reached.value == ["rfcomm:" + Air.near])
    #expect(diary.entries.value.contains(.connected(accessory.connectionID, isSelected: true)))
    picker.expectOnlySearches()
  }

  @Test func amongSeveralTheProgramChooses() async throws {
    let bricks = [Air.device(Air.far, "EV3 far", -80), Air.phone, Air.device(Air.near, "EV3 near", -50)]
    let silent = try Air(bricks)
    #expect(await silent.pick() == .resultFailed)
    #expect(silent.reached.value == [] && silent.manager.connectedAccessories == [])
    silent.expectOnlySearches()

    let picker = try Air(bricks)
    let offered = Watched<[EABluetoothNeighbour]>([])
    picker.manager.bluetoothAccessoryChooser = { neighbours in
      offered.update { $0 = neighbours }
      return neighbours.last
    }
    #expect(await picker.pick() == nil)
    #expect(offered.value.map(\.name) == ["EV3 near", "EV3 far"] && offered.value.map(\.signalStrength) == [-50, -80])
    #expect(offered.value.map(\.address) == [Air.near, Air.far] && offered.value[0].protocolStrings == [Air.brick])
    #expect(picker.reached.value == ["rfcomm:" + Air.far])
    #expect(picker.manager.connectedAccessories.map(\.name) == ["EV3 far"])
  }

  @Test func whoChoosesNothingCancels() async throws {
    let picker = try Air([Air.device(Air.near, "EV3", -50)])
    picker.manager.bluetoothAccessoryChooser = { _ in nil }
    #expect(await picker.pick(nil) == .resultCancelled)
    #expect(picker.reached.value == [] && picker.manager.connectedAccessories == [])
  }

  @Test func oneThatCantBeConnectedHasFailed() async throws {
    let picker = try Air([Air.device(Air.near, "EV3", -50)], isThere: false)
    #expect(await picker.pick() == .resultFailed)
    #expect(picker.manager.discoveryErrors.map(\.message) == ["the brick doesn't answer"])
    #expect(picker.manager.connectedAccessories == [])
  }

  /// Nobody says which device is meant, or which protocol it speaks; or there is none.
  @Test func withoutAWordNothingIsFound() async throws {
    let nameless = try Air([])
    #expect(await nameless.pick(nil) == .resultNotFound)
    #expect(nameless.bus.calls.isEmpty)

    let none = try Air([])
    #expect(await none.pick() == .resultNotFound)

    let picker = try Air([Air.device(Air.near, "EV3", -50)], protocols: [])
    let picking = Task { @MainActor [manager = picker.manager] in
      try await manager.showBluetoothAccessoryPicker(withNameFilter: NSPredicate { _, _ in true })
    }
    try await eventually("the end of the search") { picker.bus.calls.contains { $0.member == "StopDiscovery" } }
    picking.cancel()
    let error = await #expect(throws: EABluetoothAccessoryPickerError.self) { try await picking.value }
    #expect(error?.code == .resultCancelled && picker.reached.value == [])
  }

  /// The chooser is cancelled with the picker, and what it chooses then isn't connected.
  @Test func aCancelledPickerConnectsNothing() async throws {
    let picker = try Air([Air.device(Air.near, "EV3", -50)])
    let (isAsked, isCancelled) = (Watched(false), Watched(false))
    picker.manager.bluetoothAccessoryChooser = { neighbours in
      isAsked.update { $0 = true }
      await withTaskCancellationHandler {
        _ = try? await isCancelled.wait { $0 }
      } onCancel: {
        isCancelled.update { $0 = true }
      }
      return neighbours.first
    }
    let picking = Task { @MainActor [manager = picker.manager] in
      try await manager.showBluetoothAccessoryPicker(withNameFilter: nil)
    }
    try await isAsked.wait { $0 }
    picking.cancel()
    let error = await #expect(throws: EABluetoothAccessoryPickerError.self) { try await picking.value }
    #expect(error?.code == .resultCancelled)
    try await isCancelled.wait { $0 }
    await mainQueueBarrier()
    #expect(picker.reached.value == [] && picker.manager.connectedAccessories == [])
  }

  /// A brick that a service has connected is an accessory like one on a cable, with its protocol.
  @Test func aServicesBrickByBluetoothIsAnAccessory() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/socket"
    let device =
      #"{"id":"EV3","path":"rfcomm:\#(Air.near)","source":"named","links":[],"ways":[],"initialized":true}"#
    let held = #"{"device":\#(device),"state":"attached","tries":0,"profile":"ev3","protocols":["\#(Air.brick)"]}"#
    let events = [#"{"event":"present","time":1,"device":\#(device)}"#, #"{"event":"ready","time":1}"#]
    let service = try CannedService(
      at: place,
      [
        "Subscribe": ["!" + events.map { #"{"parameters":\#($0),"continues":true}"# }.joined(separator: "\0")],
        "List": [#"{"accessories":[\#(held)]}"#],
        "Info": [#"{"accessory":\#(held),"identity":{"name":"EV3","manufacturer":"LEGO"}}"#],
      ])
    defer { service.close() }
    let manager = EAAccessoryManager(sources: [], services: [place])
    let accessory = try #require(manager.connectedAccessories.first)
    #expect(accessory.protocolStrings == [Air.brick] && accessory.name == "EV3" && accessory.manufacturer == "LEGO")
    #expect(accessory.port.device.address.description == "rfcomm:" + Air.near)
  }
}
