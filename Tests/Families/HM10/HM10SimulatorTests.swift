// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator
@testable import FamilyHM10
@testable import FamilyHM10Simulator

/// A pretended module from end to end: the real driver and the real link at the other end of a terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HM10SimulatorTests {
  private struct Bench {
    let simulator: HM10Simulator
    let path: String
    let module: HM10Module

    /// The usual, with limits of time that a busy machine doesn't reach, and pauses that it needn't wait for.
    static var patient: HM10Exchange.Options {
      var options = HM10Exchange.Options()
      options.timeout = .seconds(20)
      options.restart = .milliseconds(400)
      return options
    }

    static func open(
      options: HM10Exchange.Options = patient, _ change: (inout HM10Surroundings.Configuration) -> Void = { _ in }
    ) async throws -> Bench {
      var configuration = HM10Surroundings.Configuration()
      configuration.scanTime = .milliseconds(100)
      configuration.restartTime = .milliseconds(100)
      configuration.connectTime = .milliseconds(20)
      configuration.failTime = .milliseconds(20)
      change(&configuration)
      var simulated = HM10Simulator.Configuration(HM10Surroundings(configuration), seed: 1)
      simulated.isAnnounced = false
      let simulator = HM10Simulator(simulated)
      let path = try await simulator.plugIn()
      var terminal = TerminalConfiguration(path: path)
      terminal.baudRate = UInt32(HM10Limits.baudRate)
      let module = try await HM10Module.open(try await AccessorySession.open(terminal), options: options)
      return Bench(simulator: simulator, path: path, module: module)
    }

    func close() async {
      await module.close()
      await simulator.stop()
    }
  }

  private static let first = BluetoothAddress(rawValue: 0x0017_EA00_0000)!

  @Test(arguments: [false, true]) func aModuleIsReadAsAnyAccessory(newForm: Bool) async throws {
    let bench = try await Bench.open {
      $0.module.percent = 57
      $0.module.newBatteryForm = newForm
      $0.module.name = "Gadget"
    }
    let accessory: any Accessory = bench.module
    #expect(try await accessory.battery() == BatteryReading(percent: 57))
    #expect(try await accessory.status() == AccessoryStatus(state: .idle))
    let identity = try await accessory.identify()
    #expect(identity.name == "Gadget" && identity.firmwareRevision == "HMSoft V540" && identity.model == "HM-10")
    #expect(identity.serialNumber == "0017EA090909")
    await bench.close()
  }

  /// What it can be asked, and what it can't while it is connected.
  @Test func valuesOfAConnectedModuleArePartlyUnknown() async throws {
    let bench = try await Bench.open { $0.module.isCentral = true }
    #expect(
      try await bench.module.values() == [
        AccessoryValue("connected", quantity: .state, content: .flag(false), importance: .shown),
        AccessoryValue("peer", quantity: .identity, content: nil),
        AccessoryValue("role", quantity: .state, content: .choice(word: "central", number: 1), importance: .setting),
        AccessoryValue(
          "transmit_power", quantity: .signalStrength, unit: .decibelMilliwatt, number: 0, importance: .setting),
      ])
    try await bench.module.set(.notify, to: 1)
    try await bench.module.connect(to: Self.first, isDual: false)
    #expect(
      try await bench.module.values() == [
        AccessoryValue("connected", quantity: .state, content: .flag(true), importance: .shown),
        AccessoryValue("peer", quantity: .identity, content: .text("\(Self.first)")),
        AccessoryValue("role", quantity: .state, content: nil, importance: .setting),
        AccessoryValue(
          "transmit_power", quantity: .signalStrength, unit: .decibelMilliwatt, number: nil, importance: .setting),
      ])
    await bench.close()
  }

  /// Of the two commands for the version, either may be the one that is answered.
  @Test(arguments: HM10Command.VersionForm.allCases)
  func theVersionIsReadByEitherCommand(form: HM10Command.VersionForm) async throws {
    var options = Bench.patient
    options.timeout = .seconds(2)
    let bench = try await Bench.open(options: options) { $0.module.versionForms = [form] }
    #expect(try await bench.module.version() == "HMSoft V540")
    await bench.close()
  }

  /// A clone is known by what it answers AT with, and its commands end in line ends.
  @Test func aCloneIsRecognizedAndRefusesItsBattery() async throws {
    var options = Bench.patient
    options.timeout = .seconds(2)
    let bench = try await Bench.open(options: options) { $0.module.dialect = .clone }
    #expect(bench.module.dialect == .clone)
    #expect(try await bench.module.name() == "HMSoft")
    try await bench.module.setName("BT05")
    #expect(try await bench.module.name() == "BT05")
    #expect(try await bench.module.address().digits == "0017EA090909")
    let error = await #expect(throws: AccessoryError.self) { try await bench.module.batteryPercent() }
    #expect(error?.kind == .refused)
    await bench.close()
  }

  /// Every command by name, against the module.
  @Test func everyNamedCommandOfAModuleIsPerformed() async throws {
    let bench = try await Bench.open { $0.module.isCentral = true }
    func perform(_ line: String) async throws -> [[CommandValue]] {
      let calls = try CommandCall.read(line.split(separator: " ").map(String.init), of: HM10Module.commands)
      return try await bench.module.perform(calls, isAnswered: true).map(\.values)
    }
    #expect(
      try await perform("attention + name + address + battery-percent") == [
        [], [.text("HMSoft")], [.text("00:17:EA:09:09:09")], [.whole(100)],
      ])
    #expect(try await perform("set-name name=x + name + version + help")[1] == [.text("x")])
    // Every setting, as it is set.
    for form in HM10SettingForm.all {
      let text =
        switch form.kind {
        case .choice(let words): words[words.count - 1]
        case .flag: "yes"
        case .bytes: "1234"
        case .whole(let range): "\(range.upperBound)"
        default: ""
        }
      let call = "set-\(form.name) \(form.name)=\(text) + \(form.name)"
      // The role of a central is kept, and its speed.
      if [.role, .speed, .immediate].contains(form.setting) { continue }
      let value = try await perform(call)[1]
      #expect(value.count == 1 && (value == [.text(text)] || value != [.nothing]), "\(call)")
    }
    #expect(
      try await perform("set-power power=-23 + power + service + pin")[1...] == [
        [.text("-23")], [.bytes([0x12, 0x34])], [.whole(999_999)],
      ])
    #expect(try await perform("start + sleep + clear + last-address")[3] == [.text("00:00:00:00:00:00")])
    let scan = try await perform("set-show show=both + discover")[1]
    #expect(scan.count == 3 && scan[0] != .list([]))
    #expect(try await perform("discover-beacons")[0][0] != .list([]))
    #expect(try await perform("discover-advertisements")[0][1] != .list([]))
    #expect(try await perform("at command=AT+ADDR?") == [[.text("OK+ADDR:0017EA090909")]])
    #expect(try await perform("set-notify notify=yes + connect-index index=0") == [[], [.text("00:17:EA:00:00:00")]])
    try await bench.module.disconnect()
    #expect(try await perform("connect-last").count == 1)
    try await bench.module.disconnect()
    #expect(try await perform("connect-address address=00:17:EA:00:00:01") == [[.text("00:17:EA:00:00:01")]])
    try await bench.module.disconnect()
    #expect(try await perform("renew + role") == [[], [.text("peripheral")]])
    #expect(try await perform("reset") == [[]])
    await bench.close()
  }

  /// A peripheral says nothing to a scan; it is asked whether it is one.
  @Test func aPeripheralDoesNotScan() async throws {
    var options = Bench.patient
    options.timeout = .seconds(2)
    let bench = try await Bench.open(options: options)
    let error = await #expect(throws: AccessoryError.self) { try await bench.module.scan() }
    #expect(error?.kind == .refused && error?.message.contains("is a peripheral") == true)
    await bench.close()
  }

  @Test func wrongNamedCommandsAreMisconfigured() async throws {
    let bench = try await Bench.open()
    for line in ["at command=hello", "set-service service=12", "connect-address address=nobody"] {
      let calls = try CommandCall.read(line.split(separator: " ").map(String.init), of: HM10Module.commands)
      let error = await #expect(throws: AccessoryError.self) { try await bench.module.perform(calls, isAnswered: true) }
      #expect(error?.kind == .misconfigured, "\(line)")
    }
    await bench.close()
  }

  // MARK: - As a central

  /// Forty devices, whose names would do anything to a terminal, and whose signals change.
  @Test func fortyNeighboursAreFoundByTheirStrength() async throws {
    let bench = try await Bench.open {
      $0.neighbours = 40
      $0.scanTime = .milliseconds(400)
    }
    #expect(try await bench.module.role() == .peripheral)
    let central = HM10Central([bench.module])
    try await central.start(searching: nil)
    #expect(try await bench.module.role() == .central)
    let events = await central.events()
    let counting = Task {
      var strengths: [BluetoothAddress: Set<Int>] = [:]
      for await event in events {
        if case .found(let neighbour) = event, let strength = neighbour.signalStrength {
          strengths[neighbour.address, default: []].insert(strength)
        }
        if event == .searchEnded { break }
      }
      return strengths
    }
    try await central.search(for: .seconds(3))
    let found = await central.strongestFirst
    #expect(found.count == 40)
    let strengths = found.compactMap(\.signalStrength)
    #expect(strengths.count == 40 && strengths == strengths.sorted(by: >))
    #expect(found.contains { $0.name == "\u{1B}[31mred\u{1B}[0m" } && found.contains { $0.name == "naïve ☂" })
    #expect(await counting.value.values.contains { $0.count > 1 }, "a signal changes from scan to scan")
    #expect(!bench.module.isConnected)
    await bench.close()
  }

  @Test func aConnectedDeviceEchoesWhatIsSent() async throws {
    let bench = try await Bench.open { $0.module.isCentral = true }
    let central = HM10Central([bench.module], known: [HM10Neighbour(address: Self.first)])
    try await central.start(searching: nil)
    let events = await central.events()
    try await central.connect(to: Self.first)
    #expect(bench.module.isConnected)
    let busy = await #expect(throws: AccessoryError.self) { try await bench.module.battery() }
    #expect(busy?.kind == .busy)
    #expect(try await bench.module.status() == AccessoryStatus(state: .busy))
    // More than a chunk, with what looks like replies in it.
    let text = Array("OK+NAME:x\r\nOK+LOST and the quick brown fox jumps over the lazy dog O".utf8)
    try await central.send(text, to: Self.first)
    var received: [UInt8] = []
    for await event in events {
      if case .received(let bytes, Self.first) = event { received += bytes }
      if received.count >= text.count { break }
    }
    #expect(received == text)
    #expect(await bench.simulator.device.passed == text)
    try await central.disconnect(from: Self.first)
    #expect(try await bench.module.batteryPercent() == 100)
    await bench.close()
  }

  /// Lost, taken up again, and given up when nobody is there any more.
  @Test func aLostConnectionIsMadeAgainAndThenGivenUp() async throws {
    let bench = try await Bench.open { $0.module.isCentral = true }
    var policy = HM10CentralPolicy()
    policy.reconnect.interval = .milliseconds(100)
    let central = HM10Central([bench.module], policy: policy, known: [HM10Neighbour(address: Self.first)])
    try await central.start(searching: nil)
    var events = await central.events().makeAsyncIterator()
    try await central.connect(to: Self.first)
    #expect(await events.next() == .connected(Self.first, isAgain: false))
    await bench.simulator.perform(.lose)
    #expect(await events.next() == .lost(Self.first))
    #expect(await events.next() == .state(.reconnecting))
    #expect(await events.next() == .connected(Self.first, isAgain: true))
    #expect(await events.next() == .state(.poweredOn))
    let attempts = await bench.simulator.device.attempts
    await bench.simulator.change { $0.refuse(100) }
    await bench.simulator.perform(.lose)
    #expect(await events.next() == .lost(Self.first))
    #expect(await events.next() == .state(.reconnecting))
    for left in [2, 1, 0] {
      guard case .attemptFailed(Self.first, _, left)? = await events.next() else {
        Issue.record("try \(left)")
        break
      }
    }
    #expect(await events.next() == .gaveUp(Self.first))
    #expect(await bench.simulator.device.attempts == attempts + 3)
    await bench.close()
  }

  @Test func unpluggingAModuleLosesItsConnection() async throws {
    let bench = try await Bench.open { $0.module.isCentral = true }
    let central = HM10Central([bench.module], known: [HM10Neighbour(address: Self.first)])
    try await central.start(searching: nil)
    var events = await central.events().makeAsyncIterator()
    try await central.connect(to: Self.first)
    _ = await events.next()
    await bench.simulator.unplug()
    #expect(await events.next() == .lost(Self.first))
    #expect(await events.next() == .gaveUp(Self.first))
    #expect(await events.next() == .state(.poweredOff))
    await bench.close()
  }

  @Test func theLibrarysDriverOpensAModule() async throws {
    let bench = try await Bench.open()
    await bench.module.close()
    let driver = try #require(DriverLibrary.builtIn.driver(named: "hm10"))
    let session = try await DeviceOpener(Device(.node(bench.path), source: .named), profile: .hm10).session()
    let accessory = try await driver.open(session, profile: .hm10)
    let news = accessory.news()
    await bench.simulator.stop()
    let error = await #expect(throws: AccessoryError.self) { for try await _ in news {} }
    #expect(error?.kind == .disconnected)
    await accessory.close()
  }
}
