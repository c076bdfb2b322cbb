// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryIO
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// A device on a cable that phones use over the air, with a radio and phones that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct BluetoothEndpointTests {
  private final class Setup: Sendable {
    let radio: ScriptedRadio
    let hub: SharingHub
    let endpoint: BluetoothEndpoint
    let troubles = Watched<[AccessoryError.Kind]>([])

    init(
      _ form: GATTUART = .hm10, _ state: ScriptedRadio.State = .on, _ change: (inout SharingRules) -> Void = { _ in }
    ) throws {
      var rules = SharingRules()
      change(&rules)
      let (hub, radio, troubles) = (SharingHub(rules), ScriptedRadio(state), troubles)
      (self.hub, self.radio) = (hub, radio)
      endpoint = try radio.use {
        try BluetoothEndpoint(GATTUARTServer.Settings("Robot", form), for: hub) { error in
          troubles.update { $0.append(error.kind) }
        }
      }
    }

    /// Attaches a device, and returns it when it is offered.
    func attach() async throws -> MemoryTransport {
      let device = MemoryTransport(label: "robot")
      await hub.attach(device) { _ in }
      try await radio.status.wait { $0.names == ["Robot"] && $0.services.count == 1 }
      return device
    }

    func close() async {
      await endpoint.close()
      await hub.close()
    }
  }

  @Test(arguments: [
    (GATTUART.hm10, "ffe0", "ffe1", "ffe1"), (.bluno, "dfb0", "dfb1", "dfb1"),
    (
      .nus, "6e400001-b5a3-f393-e0a9-e50e24dcca9e", "6e400002-b5a3-f393-e0a9-e50e24dcca9e",
      "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
    ),
  ]) func textGoesBothWays(form: GATTUART, service: String, writing: String, sending: String) async throws {
    let setup = try Setup(form)
    await setup.endpoint.start()
    let device = try await setup.attach()
    #expect(setup.radio.status.value.services == [service])
    let phone = ScriptedCentral(setup.radio)
    try await phone.subscribe(to: sending)
    try await phone.write(Array("AT".utf8), to: writing)
    try await phone.send(Array("+NAME".utf8), to: writing)
    #expect(try await device.nextWritten(7) == Array("AT+NAME".utf8))
    device.receive(Array("OK+NAME:The robot on the table".utf8))
    try await phone.values.wait { $0.count == 2 }
    // 20 bytes a packet.
    #expect(phone.values.value.map(\.bytes.count) == [20, 10])
    #expect(
      String(decoding: phone.values.value.flatMap(\.bytes), as: UTF8.self) == "OK+NAME:The robot on the table")
    await setup.close()
    try await setup.radio.status.wait { $0.managers == 0 && $0.services.isEmpty }
  }

  @Test func manyBytesArriveWhole() async throws {
    let setup = try Setup()
    await setup.endpoint.start()
    let device = try await setup.attach()
    let phone = ScriptedCentral(setup.radio, packetSize: 185)
    try await phone.subscribe(to: "ffe1")
    let bytes = (0..<1 << 18).map { UInt8(truncatingIfNeeded: $0 / 251 + $0) }
    let sending = Task {
      for start in stride(from: 0, to: bytes.count, by: 182) {
        try await phone.write(Array(bytes[start...].prefix(182)), to: "ffe1")
      }
    }
    #expect(try await device.nextWritten(bytes.count) == bytes)
    try await sending.value
    let count = 1 << 16
    device.receive(Array(bytes[..<count]))
    try await phone.values.wait { $0.reduce(0) { $0 + $1.bytes.count } == count }
    #expect(phone.values.value.flatMap(\.bytes) == Array(bytes[..<count]))
    await setup.close()
  }

  /// The largest packet would carry 514 bytes, and bluetoothd cuts a value off after 512.
  @Test func noValueIsLongerThanBluetoothdHandsOn() async throws {
    let setup = try Setup()
    await setup.endpoint.start()
    let device = try await setup.attach()
    let phone = ScriptedCentral(setup.radio, packetSize: 517)
    try await phone.subscribe(to: "ffe1")
    let bytes = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 / 251 + $0) }
    device.receive(bytes)
    try await phone.values.wait { $0.reduce(0) { $0 + $1.bytes.count } == bytes.count }
    #expect(phone.values.value.allSatisfy { $0.bytes.count <= 512 })
    #expect(phone.values.value.flatMap(\.bytes) == bytes)
    await setup.close()
  }

  @Test func oneWritesUntilItLeaves() async throws {
    let setup = try Setup { $0.writers = .one }
    await setup.endpoint.start()
    let device = try await setup.attach()
    let (first, second) = (ScriptedCentral(setup.radio, id: "a"), ScriptedCentral(setup.radio, id: "b"))
    try await first.write([1], to: "ffe1")
    try await second.subscribe(to: "ffe1")
    await #expect(throws: ScriptedCentral.Failure.refused(0x80)) { try await second.write([9], to: "ffe1") }
    // It hears what the device says.
    device.receive([7])
    try await second.values.wait { !$0.isEmpty }
    first.leave()
    try await second.write([2], to: "ffe1")
    #expect(try await device.nextWritten(2) == [1, 2])
    await setup.close()
  }

  @Test func aPulledCableIsToldAndItComesBack() async throws {
    let setup = try Setup()
    await setup.endpoint.start()
    // Nothing is offered without a device.
    #expect(setup.radio.status.value.names.isEmpty)
    let device = try await setup.attach()
    let phone = ScriptedCentral(setup.radio)
    try await phone.subscribe(to: "ffe1")
    device.deviceWasRemoved()
    try await setup.radio.status.wait { $0.names.isEmpty && $0.services.isEmpty }
    await #expect(throws: ScriptedCentral.Failure.notFound) { try await phone.write([1], to: "ffe1") }
    let again = try await setup.attach()
    try await phone.subscribe(to: "ffe1")
    try await phone.write([2], to: "ffe1")
    #expect(try await again.nextWritten(1) == [2])
    again.receive([3])
    try await phone.values.wait { $0.last?.bytes == [3] }
    await setup.close()
  }

  @Test func whereBluetoothIsOffItIsToldAndOfferedLater() async throws {
    let setup = try Setup(.hm10, .off) { $0.unplug = .keep }
    await setup.endpoint.start()
    try await setup.troubles.wait { $0 == [.misconfigured] }
    setup.radio.set(.on)
    let device = try await setup.attach()
    let phone = ScriptedCentral(setup.radio)
    try await phone.write([1], to: "ffe1")
    #expect(try await device.nextWritten(1) == [1])
    // The phone leaves with the radio, and comes back with it.
    setup.radio.set(.off)
    try await setup.troubles.wait { $0.count == 2 }
    setup.radio.set(.on)
    try await phone.write([2], to: "ffe1")
    #expect(try await device.nextWritten(1) == [2])
    await setup.close()
  }

  @Test(arguments: ["", String(repeating: "n", count: 27)]) func aNameMustFit(name: String) {
    #expect(throws: AccessoryError.self) {
      try BluetoothEndpoint(GATTUARTServer.Settings(name), for: SharingHub()) { _ in }
    }
  }
}
