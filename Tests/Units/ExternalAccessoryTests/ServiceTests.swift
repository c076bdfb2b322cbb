// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import BridgeService
import ExternalAccessory
import FamilyAF1
import FamilyAF1Simulator
import FamilyEV3
import FamilyEV3Simulator
import TestSupport
import Testing

/// Accessories that a service holds: listed and opened as if they were this program's own.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ServiceTests {
  private func unannounced() -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    return AF1Simulator(configuration)
  }

  /// All that a program sees of an accessory.
  private func facts(_ accessory: EAAccessory) -> [String] {
    [
      accessory.name, accessory.manufacturer, accessory.modelNumber, accessory.serialNumber,
      accessory.firmwareRevision, accessory.hardwareRevision, accessory.dockType,
    ] + accessory.protocolStrings
  }

  /// One that was named to the service shows what an announced one shows.
  @Test func theFactsAreTheSame() async throws {
    let held = try Held()
    try held.listen()
    let simulator = unannounced()
    try await held.service.hold(Device(.node(try await simulator.plugIn()), source: .named), .af1)
    let manager = EAAccessoryManager(sources: [], services: [held.place])
    let accessory = try #require(manager.connectedAccessories.first)
    #expect(manager.connectedAccessories.count == 1 && accessory.isConnected)

    let directory = try TemporaryDirectory()
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = directory.path
    let announced = AF1Simulator(configuration)
    try await announced.plugIn()
    let own = try #require(
      EAAccessoryManager(sources: [SimulatorSource(directory: directory.path)]).connectedAccessories.first)
    #expect(facts(accessory) == facts(own))
    await announced.stop()
    await simulator.stop()
    await held.end()
  }

  /// A brick on a terminal, and one on the network that has been greeted before.
  @Test(arguments: [false, true]) func aBrickIsSpokenWith(isNetwork: Bool) async throws {
    let held = try Held()
    try held.listen()
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.device.percent = 57
    if isNetwork { configuration.connection = .network(port: 0) }
    let simulator = EV3Simulator(configuration)
    try await held.service.hold(Device(try #require(DeviceAddress(try await simulator.plugIn())), source: .named), .ev3)
    let manager = EAAccessoryManager(sources: [], services: [held.place])
    let accessory = try #require(manager.connectedAccessories.first)
    #expect(accessory.protocolStrings == ["COM.LEGO.MINDSTORMS.EV3"] && accessory.name == "EV3")
    for _ in 0..<2 {
      try await LoopThread.with { thread in
        let recorder = Recorder()
        let session = try EASession.open(accessory, forProtocol: "COM.LEGO.MINDSTORMS.EV3")
        try await thread.run { session.start(recorder, in: .current) }
        try await recorder.wait(for: .openCompleted, ofInput: true)
        let question: [UInt8] = [0x09, 0, 2, 0, 0, 8, 0, 0x81, 0x12, 0xE1, 0]
        #expect(session.output.write(question) == question.count)
        try await recorder.bytes.wait { $0.count >= 13 }
        #expect(recorder.bytes.value == [11, 0, 2, 0, 2, 57, 0, 0, 0, 0, 0, 0, 0])
        session.closeStreams()
      }
    }
    // A loan is no disconnection.
    #expect(accessory.isConnected && manager.connectedAccessories.first === accessory)
    await simulator.stop()
    await held.end()
  }

  /// What comes and goes is told, and a session ends with its accessory.
  @Test func theServicesAccessoriesComeAndGo() async throws {
    let held = try Held()
    try held.listen()
    let manager = EAAccessoryManager(sources: [], services: [held.place])
    let diary = Diary(manager)
    manager.registerForLocalNotifications()
    #expect(manager.connectedAccessories.isEmpty)
    let simulator = unannounced()
    try await held.service.hold(Device(.node(try await simulator.plugIn()), source: .named), .af1)
    try await diary.entries.wait { $0.contains(.connected(1, isSelected: false)) }
    let accessory = try #require(manager.connectedAccessories.first)
    let session = try EASession.open(accessory, forProtocol: framed)
    await simulator.unplug()
    try await diary.entries.wait { $0.contains(.disconnected(1)) }
    #expect(!accessory.isConnected && manager.connectedAccessories.isEmpty)
    // One that comes back is another object.
    try await held.service.hold(Device(.node(try await simulator.plugIn()), source: .named), .af1)
    try await diary.entries.wait { $0.contains(.connected(2, isSelected: false)) }
    let again = try #require(manager.connectedAccessories.first)
    #expect(again !== accessory && again.isConnected)
    // Let go of by hand: nobody knows it any more.
    let client = try await ControlClient.connect(to: held.place)
    _ = try await client.call(Bridge.Detach())
    try await diary.entries.wait { $0.contains(.disconnected(2)) }
    let error = #expect(throws: AccessoryError.self) { try EASession.open(again, forProtocol: framed) }
    #expect(error?.kind == .disconnected)
    #expect(diary.entries.value.count { $0 == .disconnected(1) || $0 == .disconnected(2) } == 2)
    diary.end()
    _ = session
    await simulator.stop()
    await held.end()
  }

  /// A service that starts later is found, and what it had is gone when it ends.
  @Test func aLateServiceIsFoundAndForgotten() async throws {
    let held = try Held()
    let manager = EAAccessoryManager(sources: [], services: [held.place])
    #expect(manager.connectedAccessories.isEmpty)
    let simulator = unannounced()
    try await held.service.hold(Device(.node(try await simulator.plugIn()), source: .named), .af1)
    for _ in 0..<2 {
      try held.listen()
      try await eventually("the accessory") { manager.connectedAccessories.count == 1 }
      await held.endListening()
      try await eventually("its end") { manager.connectedAccessories.isEmpty }
    }
    await simulator.stop()
    await held.end()
  }

  /// What this program knows, too, is one accessory; it stays when the service lets it go, and is then opened here.
  @Test(arguments: [true, false]) func anAccessoryKnownTwiceIsOne(serviceIsFirst: Bool) async throws {
    let held = try Held()
    try held.listen()
    let simulator = unannounced()
    let path = try await simulator.plugIn()
    try await held.service.hold(Device(.node(path), source: .named), .af1)
    let source = FakeSource(serviceIsFirst ? [] : [.af1(at: path)])
    let manager = EAAccessoryManager(sources: [source], services: [held.place])
    let accessory = try #require(manager.connectedAccessories.first)
    if serviceIsFirst {
      #expect(accessory.serialNumber == "SIM0001")
      source.add(.af1(at: path))
      try await eventually("the other facts") { accessory.serialNumber == "G1" }
    }
    #expect(manager.connectedAccessories == [accessory])
    var session: EASession? = try EASession.open(accessory, forProtocol: framed)
    #expect(session != nil)
    session = nil
    await held.end()
    try await eventually("the open accessory") { (try? EASession.open(accessory, forProtocol: framed)) != nil }
    #expect(accessory.isConnected && manager.connectedAccessories == [accessory])
    source.remove(.af1(at: path))
    try await eventually("its end") { manager.connectedAccessories.isEmpty }
    await simulator.stop()
  }

  /// The service stops while this program has borrowed the accessory: its streams come to their end, and that is all.
  @Test func streamsEndWhenTheServiceEnds() async throws {
    let held = try Held()
    try held.listen()
    let simulator = unannounced()
    let path = try await simulator.plugIn()
    try await held.service.hold(Device(.node(path), source: .named), .af1)
    let manager = EAAccessoryManager(sources: [FakeSource([.af1(at: path)])], services: [held.place])
    let diary = Diary(manager)
    manager.registerForLocalNotifications()
    let accessory = try #require(manager.connectedAccessories.first)
    try await LoopThread.with { thread in
      let recorder = Recorder()
      let session = try EASession.open(accessory, forProtocol: framed)
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      await held.end()
      try await recorder.wait(for: .endEncountered, ofInput: true)
      try await recorder.wait(for: .endEncountered, ofInput: false)
      await mainQueueBarrier()
      #expect(manager.connectedAccessories == [accessory] && accessory.isConnected)
      #expect(diary.entries.value == [])
      // It is opened here from now on, and what is lost then is lost.
      try await eventually("the open accessory") { (try? EASession.open(accessory, forProtocol: framed)) != nil }
      let own = try EASession.open(accessory, forProtocol: framed)
      await simulator.unplug()
      try await diary.entries.wait { $0.contains(.disconnected(accessory.connectionID)) }
      #expect(manager.connectedAccessories.isEmpty && own.accessory === accessory)
    }
    diary.end()
    await simulator.stop()
  }
}
