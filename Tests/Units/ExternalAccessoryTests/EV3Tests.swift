// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import ExternalAccessory
import FamilyEV3
import FamilyEV3Simulator
import TestSupport
import Testing

/// A pretended EV3, found and spoken with as programs for iOS do.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct EV3Tests {
  private static let protocolString = "COM.LEGO.MINDSTORMS.EV3"

  private func brick(
    _ connection: EV3Simulator.Connection
  ) async throws -> (EV3Simulator, EAAccessoryManager) {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.connection = connection
    configuration.device.percent = 57
    let simulator = EV3Simulator(configuration)
    let path = try await simulator.plugIn()
    let device = Device(
      try #require(DeviceAddress(path)), source: .simulator, driver: "ev3", name: "EV3", manufacturer: "LEGO",
      model: "EV3",
      serialNumber: "001653000001")
    return (simulator, EAAccessoryManager(sources: [FakeSource([device])]))
  }

  /// The battery's percent as LEGO's SDK asks for it; over the network a brick has been greeted before.
  @Test(arguments: [false, true]) func aBricksBatteryIsReadOverAStream(isNetwork: Bool) async throws {
    let (simulator, manager) = try await brick(isNetwork ? .network(port: 0) : .pseudoTerminal)
    let accessory = try #require(
      manager.connectedAccessories.first { $0.protocolStrings.contains(Self.protocolString) })
    #expect(accessory.serialNumber == "001653000001")
    try await LoopThread.with { thread in
      let recorder = Recorder()
      let session = try EASession.open(accessory, forProtocol: Self.protocolString)
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      let question: [UInt8] = [0x09, 0, 2, 0, 0, 8, 0, 0x81, 0x12, 0xE1, 0]
      #expect(session.output.write(question) == question.count)
      try await recorder.bytes.wait { $0.count >= 13 }
      #expect(recorder.bytes.value == [11, 0, 2, 0, 2, 57, 0, 0, 0, 0, 0, 0, 0])
      session.closeStreams()
    }
    await simulator.stop()
  }
}
