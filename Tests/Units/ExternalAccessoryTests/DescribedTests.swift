// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessorySimulator
import ExternalAccessory
import TestSupport
import Testing

/// An accessory whose protocol a file describes, found by its profile's protocol string and spoken with as programs for iOS
/// do.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct DescribedTests {
  private static let profile = """
    name: cellar
    match: {serial: BMS1}
    protocol: jbd
    protocols: [com.example.bms]
    writes: allowed

    """

  @Test func aDescribedDeviceIsFoundByItsProtocolString() async throws {
    let described = try #require(DescriptionLibrary.builtIn.described("jbd"))
    var configuration = SerialSimulator<DescribedDevice>.Configuration(
      try DescribedDevice(described.description, serialNumber: "BMS1"), seed: 1)
    configuration.isAnnounced = false
    let simulator = SerialSimulator(configuration)
    let path = try await simulator.plugIn()
    let device = Device(
      try #require(DeviceAddress(path)), source: .simulator, driver: "jbd", name: "jbd", serialNumber: "BMS1")
    let profile = try ProfileReader.read(Array(Self.profile.utf8), file: "cellar.yaml")
    let manager = EAAccessoryManager(sources: [FakeSource([device])], profiles: ProfileStore([profile]))
    let accessory = try #require(manager.connectedAccessories.first)
    #expect(accessory.protocolStrings == ["com.example.bms"] && accessory.serialNumber == "BMS1")
    try await LoopThread.with { thread in
      let recorder = Recorder()
      let session = try EASession.open(accessory, forProtocol: "com.example.bms", writes: true)
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      let question: [UInt8] = [0xDD, 0xA5, 5, 0, 0xFF, 0xFB, 0x77]
      #expect(session.output.write(question) == question.count)
      try await recorder.bytes.wait { $0.count >= 17 }
      #expect(recorder.bytes.value == [0xDD, 5, 0, 10] + Array("0123456789".utf8) + [0xFD, 0xE9, 0x77])
      session.closeStreams()
    }
    await simulator.stop()
  }

  /// Several on one line are an accessory each. A session has the line's bytes, so only one of them has a session at a time.
  @Test func unitsOfALineShareOneSession() async throws {
    let described = try #require(DescriptionLibrary.builtIn.described("daly"))
    let board = try DescribedDevice(described.description, serialNumber: "BANK1")
    var configuration = SerialSimulator<DescribedUnits>.Configuration(
      try DescribedUnits(board, units: [1, 2]), seed: 1)
    configuration.isAnnounced = false
    let simulator = SerialSimulator(configuration)
    let path = try await simulator.plugIn()
    let device = Device(
      try #require(DeviceAddress(path)), source: .simulator, driver: "daly", name: "daly", serialNumber: "BANK1")
    let text = """
      name: bank
      match: {serial: BANK1}
      protocol: daly
      units: [1, 2]
      protocols: [com.example.bank]
      writes: allowed

      """
    let profile = try ProfileReader.read(Array(text.utf8), file: "bank.yaml")
    let manager = EAAccessoryManager(sources: [FakeSource([device])], profiles: ProfileStore([profile]))
    let accessories = manager.connectedAccessories.sorted { $0.serialNumber < $1.serialNumber }
    #expect(accessories.map(\.serialNumber) == ["BANK1@1", "BANK1@2"])
    #expect(Set(accessories.map(\.connectionID)).count == 2)
    try await LoopThread.with { thread in
      let recorder = Recorder()
      let session = try EASession.open(try #require(accessories.last), forProtocol: "com.example.bank", writes: true)
      #expect(throws: AccessoryError.self) {
        _ = try EASession.open(try #require(accessories.first), forProtocol: "com.example.bank", writes: true)
      }
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      // Voltage, current and charge of the second board.
      let question: [UInt8] = [0xA5, 0x41, 0x90, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 0x7E]
      #expect(session.output.write(question) == question.count)
      try await recorder.bytes.wait { $0.count >= 13 }
      #expect(recorder.bytes.value.starts(with: [0xA5, 0x02, 0x90, 0x08]))
      session.closeStreams()
    }
    await simulator.stop()
  }

  /// Nobody knows what a device speaks that two profiles claim: programs aren't shown it, and are told why.
  @Test func aDeviceThatTwoProfilesClaimIsNotShown() throws {
    let profiles = [("cellar", "jbd"), ("roof", "daly")].map { name, driver in
      Profile(
        name: name, rules: [DeviceRule(serialNumber: "BMS1")], driver: driver, protocolStrings: ["com.example.bms"])
    }
    let device = Device(try #require(DeviceAddress("/dev/pts/9")), source: .simulator, serialNumber: "BMS1")
    let manager = EAAccessoryManager(sources: [FakeSource([device])], profiles: ProfileStore(profiles))
    #expect(manager.connectedAccessories.isEmpty)
    #expect(manager.discoveryErrors.contains { $0.message.contains("cellar (jbd) and roof (daly)") })
  }
}
