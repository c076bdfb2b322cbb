// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessorySimulator
import AccessoryTesting
import TestSupport
import Testing

/// Simulated accessories on the air, with a radio and a phone that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct AirTests {
  private static func simulator() -> SerialSimulator<LoopbackDevice> {
    var configuration = SerialSimulator<LoopbackDevice>.Configuration(LoopbackDevice(serialNumber: "LOOP1"), seed: 1)
    configuration.connection = .bluetooth(GATTUARTServer.Settings("Robot", .bluno))
    configuration.isAnnounced = false
    return SerialSimulator(configuration)
  }

  private static func plugIn(_ simulator: SerialSimulator<LoopbackDevice>, _ radio: ScriptedRadio) async throws {
    let path = try await Radios.$ofTask.withValue(radio) { try await simulator.plugIn() }
    #expect(path == "ble:Robot")
  }

  @Test func aPhoneFindsItAndIsAnswered() async throws {
    let (radio, simulator) = (ScriptedRadio(), Self.simulator())
    try await Self.plugIn(simulator, radio)
    #expect(radio.status.value.names == ["Robot"] && radio.status.value.services == ["dfb0"])
    let phone = ScriptedCentral(radio)
    for round in UInt8(1)...2 {
      try await phone.subscribe(to: "dfb1")
      try await phone.write([round, 2, 3], to: "dfb1")
      try await phone.values.wait { $0.last?.bytes == [round, 2, 3] }
      // Another phone may come when it has left.
      phone.leave()
      await radio.settle()
    }
    await simulator.stop()
    try await radio.status.wait { $0.names.isEmpty && $0.services.isEmpty }
  }

  /// A battery manager has one characteristic that is written, and another one that sends.
  @Test func itHasTheCharacteristicsOfItsKind() async throws {
    var configuration = SerialSimulator<LoopbackDevice>.Configuration(LoopbackDevice(serialNumber: "LOOP1"), seed: 1)
    let (service, write, notify) = (BluetoothUUID("ff00"), BluetoothUUID("ff02"), BluetoothUUID("ff01"))
    #expect(GATTUARTServer.Settings("Robot", GATTSettings(write: write, notify: notify)) == nil)
    let settings = GATTSettings(service: service, write: write, notify: notify)
    configuration.connection = .bluetooth(try #require(GATTUARTServer.Settings("Robot", settings)))
    configuration.isAnnounced = false
    let (radio, simulator) = (ScriptedRadio(), SerialSimulator(configuration))
    try await Self.plugIn(simulator, radio)
    #expect(radio.status.value.services == ["ff00"])
    let phone = ScriptedCentral(radio)
    try await phone.subscribe(to: "ff01")
    try await phone.write([1, 2, 3], to: "ff02")
    try await phone.values.wait { $0.last?.bytes == [1, 2, 3] }
    await simulator.stop()
  }

  @Test func itVanishesAndComesBack() async throws {
    let (radio, simulator) = (ScriptedRadio(), Self.simulator())
    try await Self.plugIn(simulator, radio)
    let phone = ScriptedCentral(radio)
    try await phone.subscribe(to: "dfb1")
    await simulator.unplug()
    try await radio.status.wait { $0.names.isEmpty && $0.services.isEmpty }
    try await Self.plugIn(simulator, radio)
    try await phone.subscribe(to: "dfb1")
    await simulator.stop()
  }

  @Test func whereBluetoothIsOffItSaysSo() async throws {
    let (radio, simulator) = (ScriptedRadio(.off), Self.simulator())
    await #expect(throws: AccessoryError.self) {
      try await Radios.$ofTask.withValue(radio) { try await simulator.plugIn() }
    }
    await simulator.stop()
  }
}
