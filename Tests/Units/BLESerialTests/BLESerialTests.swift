// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import BLESerial
@testable import NearestModule

/// Modules that the test plays, a clock that it moves, and what the manager tells.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct BLESerialTests {
  /// A client that writes down each call.
  final class Client: BLESerialDelegate, Sendable {
    let lines = Watched<[String]>([])
    let clock = ManualClock()
    let radio: ScriptedRadio
    let queue = DispatchQueue(label: "client")
    private let kept = Locked<BLESerialManager?>(nil)

    init(_ radio: ScriptedRadio) { self.radio = radio }

    var manager: BLESerialManager { kept.withLock { $0! } }

    /// A manager whose first search is begun.
    func start(_ search: Duration? = .seconds(10), services: [CBUUID]? = nil, state: String = "poweredOn") async throws
    {
      let manager = radio.use {
        BLESerialManager(self, queue, services, CBUUID(string: "FFE1"), search, clock: clock)
      }
      kept.withLock { $0 = manager }
      try await wait("state \(state)")
    }

    /// One whose search has found these.
    func found(_ count: Int) async throws {
      try await start()
      try await eventually("all are found") { self.manager.numberOfDiscoveredDevices == count }
      clock.advance(by: .seconds(10))
      try await wait("search over")
    }

    func end() { kept.withLock { $0 = nil } }

    func wait(_ line: String, times: Int = 1) async throws {
      try await lines.wait { $0.count { $0 == line } == times }
    }

    /// Waits until everything that was asked before is done and told.
    func settle() async {
      for _ in 0..<3 {
        await radio.settle()
        await withCheckedContinuation { done in queue.async { done.resume() } }
      }
    }

    func id(_ name: String) throws -> UUID {
      try #require(manager.discoveredDevices.first { $0.value.name == name }).key
    }

    private func write(_ line: String) { lines.update { $0.append(line) } }
    private func name(_ manager: BLESerialManager, _ id: UUID) -> String { manager.name(of: id) }

    func serialManager(_ manager: BLESerialManager, didChangeState state: CBManagerState) { write("state \(state)") }
    func serialManagerSearchTimerExpired(_ manager: BLESerialManager) { write("search over") }
    func serialManager(_ manager: BLESerialManager, deviceStatusChanged device: UUID, to status: BLESerialStatus) {
      write("\(name(manager, device)) \(status)")
    }
    func serialManager(_ manager: BLESerialManager, connectedToDevice device: UUID) {
      write("\(name(manager, device)) is connected")
    }
    func serialManager(_ manager: BLESerialManager, deviceIsReady device: UUID) {
      write("\(name(manager, device)) is ready")
    }
    func serialManager(_ manager: BLESerialManager, didReceive data: Data, from device: UUID) {
      write("\(name(manager, device)): \(String(decoding: data, as: UTF8.self))")
    }
  }

  private static func module(_ name: String, _ strength: Int = -50) -> ScriptedPeripheral {
    let module = ScriptedPeripheral.serialPort(name) { $0 }
    module.setStrength(strength)
    return module
  }

  // MARK: - Searching

  @Test func theStrongestSignalIsTheFirst() async throws {
    let modules = [Self.module("Far", -90), Self.module("Near", -30), Self.module("Middle", -60)]
    let silent = Self.module("Silent", 127)
    let client = Client(ScriptedRadio(.on, modules + [silent]))
    try await client.found(4)
    let manager = client.manager
    #expect(manager.devicesByStrength.map(manager.name) == ["Near", "Middle", "Far", "Silent"])
    #expect(manager.devicesByStrength.map { manager.strength(of: $0) } == [-30, -60, -90, nil])
    let near = try client.id("Near")
    #expect(manager.advertisement(of: near)[CBAdvertisementDataLocalNameKey] as? String == "Near")
    #expect(manager.discoveredDevices[near]?.identifier == near && manager.numberOfDiscoveredDevices == 4)
    let nobody = UUID()
    #expect(manager.name(of: nobody).isEmpty && manager.strength(of: nobody) == nil)
    #expect(manager.advertisement(of: nobody).isEmpty && manager.status(of: nobody) == .disconnected)
  }

  @Test func aSearchForgetsWhatIsNotConnectedAndMeasuresAgain() async throws {
    let (near, far) = (Self.module("Near", -30), Self.module("Far", -90))
    let client = Client(ScriptedRadio(.on, [near, far]))
    try await client.found(2)
    let manager = client.manager
    #expect(!manager.isSearching)
    try await client.radio.status.wait { $0.searches == 0 }
    #expect(manager.connect(to: try client.id("Near")))
    try await client.wait("Near is ready")
    far.vanish()
    manager.search(for: .seconds(5))
    await client.settle()
    #expect(manager.devicesByStrength.map(manager.name) == ["Near"] && manager.isSearching)
    far.setStrength(-20)
    far.appear()
    try await eventually("it is found again") { manager.numberOfDiscoveredDevices == 2 }
    #expect(manager.strength(of: try client.id("Far")) == -20)
    // A search that is replaced doesn't end the next one.
    client.clock.advance(by: .seconds(4))
    manager.search(for: .seconds(5))
    client.clock.advance(by: .seconds(4))
    await client.settle()
    #expect(manager.isSearching && client.lines.value.count { $0 == "search over" } == 1)
    client.clock.advance(by: .seconds(1))
    try await client.wait("search over", times: 2)
    manager.search(for: .seconds(5))
    manager.stopSearch()
    client.clock.advance(by: .seconds(5))
    await client.settle()
    #expect(!manager.isSearching && client.lines.value.count { $0 == "search over" } == 2)
  }

  @Test func aSearchWaitsForBluetoothAndOnlyFindsTheServices() async throws {
    let other = ScriptedPeripheral("Meter", [ScriptedService("180f", [])])
    let client = Client(ScriptedRadio(.off, [Self.module("Module"), other]))
    try await client.start(nil, services: [CBUUID(string: "FFE0")], state: "poweredOff")
    client.manager.search(for: .seconds(5))
    #expect(client.manager.isSearching && client.manager.state == .poweredOff)
    client.radio.set(.on)
    try await client.wait("state poweredOn")
    await client.settle()
    #expect(client.manager.devicesByStrength.map(client.manager.name) == ["Module"])
    // Switched off, a search is over.
    client.radio.set(.off)
    try await client.wait("search over")
  }

  /// The first state may be told while the manager is being made.
  @Test func theStateIsToldHoweverSoonItComes() async throws {
    for _ in 0..<300 {
      let client = Client(ScriptedRadio(.on, [Self.module("Module")]))
      try await client.start()
      try await eventually("it is found") { client.manager.numberOfDiscoveredDevices == 1 }
      client.end()
    }
  }

  // MARK: - Connections

  @Test func whatCantBeConnected() async throws {
    let client = Client(ScriptedRadio(.on, [Self.module("One"), Self.module("Two"), Self.module("Three")]))
    try await client.found(3)
    let manager = client.manager
    let (one, two, three) = (try client.id("One"), try client.id("Two"), try client.id("Three"))
    #expect(!manager.connect(to: UUID()), "it wasn't found")
    #expect(manager.connect(to: one))
    #expect(!manager.connect(to: one), "it is being connected")
    #expect(!manager.connect(to: two), "one connection at a time")
    try await client.wait("One is ready")
    #expect(!manager.connect(to: one), "it is connected")
    manager.setMultipleConnections(numberOfDevices: 2)
    #expect(manager.connect(to: two) && !manager.connect(to: three))
    try await client.wait("Two is ready")
    #expect(Set(manager.connectedDevices) == [one, two] && manager.services(of: two)?.first?.uuid.uuidString == "FFE0")
    manager.disconnect(one)
    try await client.wait("One disconnected")
    await client.settle()
    #expect(manager.status(of: one) == .disconnected && manager.connect(to: three))
    client.radio.set(.off)
    try await client.wait("state poweredOff")
    #expect(!manager.connect(to: one), "Bluetooth is off")
  }

  @Test func bytesGoThereAndBack() async throws {
    let client = Client(ScriptedRadio(.on, [Self.module("Module")]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    #expect(!manager.send(Data([1]), to: id), "it isn't connected")
    manager.connect(to: id)
    try await client.wait("Module is ready")
    let text = (0..<4_000).map { "\($0) " }.joined()
    #expect(manager.send(Data(text.utf8), to: id) && !manager.send(Data(count: 65_537), to: id))
    try await client.lines.wait { lines in
      lines.filter { $0.hasPrefix("Module: ") }.map { $0.dropFirst(8) }.joined() == text
    }
    #expect(manager.send(Data(count: 60_000), to: id))
  }

  /// Copies of HM-10 take only writes with a response.
  @Test func aModuleThatAnswersWrites() async throws {
    let module = ScriptedPeripheral(
      "Copy", [ScriptedService("ffe0", [ScriptedCharacteristic("ffe1", [.write, .notify])])],
      onWrite: { module, _, bytes in
        module.send(bytes, from: "ffe1")
        return nil
      })
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Copy"))
    manager.connect(to: id)
    try await client.wait("Copy is ready")
    for word in ["one", "two", "three"] { #expect(manager.send(Data(word.utf8), to: id)) }
    try await client.wait("Copy: three")
    #expect(client.lines.value.suffix(3) == ["Copy: one", "Copy: two", "Copy: three"])
  }

  @Test func aDeviceWithoutASerialPort() async throws {
    let meter = ScriptedPeripheral(
      "Meter", [ScriptedService("180f", [ScriptedCharacteristic("2a19", .read)]), ScriptedService("1234", [])])
    let client = Client(ScriptedRadio(.on, [meter]))
    try await client.found(1)
    let id = try client.id("Meter")
    client.manager.connect(to: id)
    try await client.wait("Meter is ready")
    #expect(client.manager.services(of: id)?.count == 2 && !client.manager.send(Data([1]), to: id))
  }

  // MARK: - Tries

  @Test func aLostModuleIsConnectedAgainAfterAPause() async throws {
    let module = Self.module("Module")
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    manager.connect(to: id)
    try await client.wait("Module is ready")
    for round in 2...6 {
      module.disconnect()
      try await client.wait("Module reconnecting", times: round - 1)
      await client.settle()
      #expect(manager.isReconnecting && client.radio.status.value.connected.isEmpty)
      client.clock.advance(by: .seconds(1))
      // Each time counts its own tries.
      try await client.wait("Module is ready", times: round)
    }
    #expect(
      client.lines.value.filter { $0.hasPrefix("Module") }.prefix(6) == [
        "Module connecting", "Module connected", "Module is connected", "Module is ready", "Module reconnecting",
        "Module connected",
      ])
  }

  @Test func aModuleThatStaysAwayIsGivenUp() async throws {
    let module = Self.module("Module")
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    manager.setAutomaticReconnectOnDisconnect(tries: 2, timeBetweenTries: .seconds(3), timePerTry: .seconds(7))
    manager.connect(to: id)
    try await client.wait("Module is ready")
    module.vanish()
    try await client.wait("Module reconnecting")
    for _ in 1...2 {
      client.clock.advance(by: .seconds(3))
      try await client.radio.status.wait { $0.awaited == ["Module"] }
      await client.settle()
      client.clock.advance(by: .seconds(7))
      try await client.radio.status.wait { $0.awaited.isEmpty }
      await client.settle()
    }
    try await client.wait("Module disconnected")
    client.clock.advance(by: .seconds(100))
    module.appear()
    await client.settle()
    #expect(manager.status(of: id) == .disconnected && client.radio.status.value.connected.isEmpty)
    #expect(manager.connect(to: id))
    try await client.wait("Module is ready", times: 2)
  }

  @Test func aFailedConnectionIsTriedAgain() async throws {
    let module = Self.module("Module")
    module.refuseConnections()
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    manager.setRetryConnectAfterFail(tries: 2, timeBetweenTries: .seconds(2))
    manager.connect(to: id)
    for _ in 1...2 {
      await client.settle()
      #expect(manager.status(of: id) == .connecting && client.radio.status.value.awaited.isEmpty)
      client.clock.advance(by: .seconds(2))
    }
    try await client.wait("Module disconnected")
    // The third time it succeeds.
    manager.connect(to: id)
    await client.settle()
    client.clock.advance(by: .seconds(2))
    await client.settle()
    module.refuseConnections(false)
    client.clock.advance(by: .seconds(2))
    try await client.wait("Module is ready")
    #expect(!client.lines.value.contains("Module reconnecting"))
  }

  @Test func nothingIsTriedAgainWhereThatIsOff() async throws {
    let module = Self.module("Module")
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    manager.setAutomaticReconnectOnDisconnect(false)
    manager.setRetryConnectAfterFail(false)
    module.refuseConnections()
    manager.connect(to: id)
    try await client.wait("Module disconnected")
    module.refuseConnections(false)
    manager.connect(to: id)
    try await client.wait("Module is ready")
    module.disconnect()
    try await client.wait("Module disconnected", times: 2)
    client.clock.advance(by: .seconds(100))
    await client.settle()
    #expect(client.radio.status.value.connected.isEmpty)
    // What the client ends itself isn't connected again either.
    manager.setAutomaticReconnectOnDisconnect()
    manager.connect(to: id)
    try await client.wait("Module is ready", times: 2)
    manager.disconnect(id)
    try await client.wait("Module disconnected", times: 3)
    client.clock.advance(by: .seconds(100))
    await client.settle()
    #expect(client.radio.status.value.connected.isEmpty && manager.status(of: id) == .disconnected)
  }

  @Test func aPauseAndATryCanBeEnded() async throws {
    let module = Self.module("Module")
    let client = Client(ScriptedRadio(.on, [module]))
    try await client.found(1)
    let (manager, id) = (client.manager, try client.id("Module"))
    manager.connect(to: id)
    try await client.wait("Module is ready")
    module.vanish()
    try await client.wait("Module reconnecting")
    manager.disconnect(id)
    try await client.wait("Module disconnected")
    client.clock.advance(by: .seconds(100))
    await client.settle()
    #expect(client.radio.status.value.awaited.isEmpty)
    manager.connect(to: id)
    try await client.radio.status.wait { $0.awaited == ["Module"] }
    manager.disconnect(id)
    try await client.wait("Module disconnected", times: 2)
    await client.settle()
    #expect(client.radio.status.value.awaited.isEmpty && manager.status(of: id) == .disconnected)
    module.appear()
    await client.settle()
    #expect(client.radio.status.value.connected.isEmpty && manager.connect(to: id))
  }

  @Test func bluetoothIsSwitchedOffAndOn() async throws {
    let client = Client(ScriptedRadio(.on, [Self.module("Module")]))
    try await client.found(1)
    client.manager.connect(to: try client.id("Module"))
    try await client.wait("Module is ready")
    client.radio.set(.off)
    try await client.wait("Module reconnecting")
    client.clock.advance(by: .seconds(100))
    await client.settle()
    #expect(client.manager.isReconnecting && client.radio.status.value.awaited.isEmpty)
    client.radio.set(.on)
    try await client.wait("state poweredOn", times: 2)
    await client.settle()
    client.clock.advance(by: .seconds(1))
    try await client.wait("Module is ready", times: 2)
  }

  @Test func aManagerThatIsLetGoEndsEverything() async throws {
    let client = Client(ScriptedRadio(.on, [Self.module("One"), Self.module("Two")]))
    try await client.found(2)
    client.manager.setMultipleConnections(numberOfDevices: 2)
    for id in client.manager.devicesByStrength { client.manager.connect(to: id) }
    try await client.wait("Two is ready")
    client.manager.search(for: .seconds(5))
    client.end()
    try await client.radio.status.wait { $0.managers == 0 && $0.connected.isEmpty && $0.searches == 0 }
    let count = client.lines.value.count
    client.clock.advance(by: .seconds(100))
    await client.settle()
    #expect(client.lines.value.count == count)
  }

  // MARK: - The page and the example

  @Test func thePageShowsWhatIsCompiled() throws {
    let sources = try Page.all(in: "Tests/Units/BLESerialTests", "PageSnippets.swift")
    let snippets = try Page.all(in: "Sources/BLESerial/BLESerial.docc", ".md").flatMap(\.snippets)
    #expect(snippets.count == 1)
    for snippet in snippets {
      let body = snippet.drop { $0.hasPrefix("import") || $0.isEmpty }
      #expect(sources.contains { $0.contains(Array(body)) })
    }
  }

  @Test @MainActor func theNearestModuleIsATerminal() async throws {
    let lines = Watched("")
    let terminal = NearestModule { text in lines.update { $0 += text } }
    let radio = ScriptedRadio(.on, [Self.module("Far", -90), Self.module("Near", -30)])
    radio.use { terminal.start(searchingFor: .milliseconds(300)) }
    try await lines.wait { $0.hasSuffix("connected\n") }
    try await eventually("it answers") {
      terminal.send("hello")
      return lines.value.hasSuffix("hello")
    }
    #expect(lines.value.hasPrefix("Near at -30 dBm\nconnecting\nconnected\n"))
  }
}
