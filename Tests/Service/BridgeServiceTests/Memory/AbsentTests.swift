// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import FamilyAF1Simulator
import TestSupport
import Testing

@testable import BridgeService

/// An accessory that was attached and is gone, and the names of accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct AbsentTests {
  private static func configure(
    _ file: MemoryHistoryFile, wall: Watched<Double> = Watched(1_000_000)
  ) throws -> (inout ServiceConfiguration) -> Void {
    let rules = [try AlarmRule("battery < 20 %")]
    return { configuration in
      configuration.reconnect.tries = .off
      configuration.accessoryFile = file
      configuration.alarmRules = AlarmRules(typed: rules)
      configuration.wallClock = { wall.value }
    }
  }

  /// The name of the error of a call; nil where there is none.
  private static func error(_ call: some ControlMethod, _ client: ControlClient) async -> String? {
    do throws(ControlError) {
      _ = try await client.call(call)
      return nil
    } catch {
      if case .answer(let answer) = error { return answer.name.split(separator: ".").last.map(String.init) }
      return "\(error)"
    }
  }

  private static func absent(_ client: ControlClient) async throws -> [Bridge.Accessory] {
    try await client.call(Bridge.List(absent: true)).accessories.filter { $0.absent == true }
  }

  /// An accessory with a low battery that was there, and is gone.
  private static func leave(_ id: String, _ harness: ServiceHarness, _ client: ControlClient) async throws {
    let simulator = try await harness.simulate(id) { $0.device.battery.percent = 15 }
    try await harness.attached(id)
    try await harness.said("\(id): alarm: battery < 20 %")
    await simulator.stop()
    try await eventually("\(id) is absent") { try await absent(client).map(\.device.id) == [id] }
  }

  @Test func itStaysWithItsLastReadingAndItsAlarms() async throws {
    let wall = Watched(1_000_000.0)
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile(), wall: wall)) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      wall.update { $0 = 1_000_100 }
      let gone = try #require(try await Self.absent(client).first)
      #expect(
        gone.last?.battery?.percent == 15 && gone.last?.status != nil && gone.last?.identity?.serialNumber == "GONE1")
      #expect(gone.alarms?.map(\.name) == ["battery < 20 %"])
      #expect(gone.connected_since == 1_000_000 && gone.last_seen == 1_000_000 && gone.stale == true)
      #expect(gone.readings_age_ms.map { $0 >= 100_000 } == true && gone.driver == "framed" && !gone.isReachable)
      // Those who don't ask for it aren't told of it: they would take it for one that is there.
      #expect(try await client.call(Bridge.List()).accessories.isEmpty)
      #expect(try await client.call(Bridge.GetInfo(device: "GONE1")).accessory.absent == true)
      // A call for it says what has become of it.
      do throws(ControlError) {
        _ = try await client.call(Bridge.Request(device: "GONE1", command: "0x12"))
        Issue.record("it was answered")
      } catch {
        let told = error.accessoryError
        #expect(
          told.kind == .disconnected && told.message.contains("GONE1 is not there: it was last there 1 minute ago"))
      }
      #expect(await Self.error(Bridge.GetBattery(device: gone.key), client) == "Disconnected")
      // Its alarm is told to who comes later.
      var events = try (try await harness.client()).stream(Bridge.Subscribe(alarms: true)).makeAsyncIterator()
      #expect(try await events.next()?.alarm?.name == "battery < 20 %")
    }
  }

  /// It is there once when it is back, and its alarm is over when it is read.
  @Test func itComesBack() async throws {
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile())) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      try await harness.simulate("GONE1") { $0.device.battery.percent = 80 }
      try await harness.said("GONE1 is attached at", times: 2)
      try await harness.said("GONE1: alarm cleared: battery < 20 %")
      let all = try await client.call(Bridge.List(absent: true)).accessories
      #expect(all.count == 1 && all[0].state == .attached && all[0].absent == nil && all[0].last_seen == nil)
      #expect(all[0].last == nil && all[0].alarms == [])
    }
  }

  /// One that goes again before it was read keeps what was read of it before.
  @Test func whatWasReadBeforeStays() async throws {
    let accessory = ScriptedAccessory { $0.command == .hello ? .silence : .refusal(1) }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile())) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      let file = try harness.announce(terminal.path, serial: "GONE1")
      try await harness.said("GONE1 is attached at", times: 2)
      #expect(try await Self.absent(client).isEmpty)
      file.remove()
      await terminal.transport.close()
      try await eventually("it is absent again") { try await Self.absent(client).count == 1 }
      let gone = try await Self.absent(client).first
      #expect(gone?.last?.battery?.percent == 15 && gone?.alarms?.count == 1 && gone?.readings_age_ms != nil)
    }
  }

  /// The history, too, is written at the end, when the service has let go of everything: nothing of what was there is lost by that.
  @Test func whatIsThereAtTheEndIsKept() async throws {
    let file = MemoryHistoryFile()
    try await ServiceHarness.with(Self.configure(file)) { harness in
      try await harness.simulate("STAYS")
      try await harness.attached("STAYS")
      await harness.service.close()
      await harness.service.writeMemoryAgain()
      let text = String(decoding: file.state.value.bytes ?? [], as: UTF8.self)
      #expect(text.contains("STAYS"), "\(text)")
    }
  }

  /// What is gone before the service ends, and what goes while it isn't running, is known after its next start; an alarm isn't raised
  /// twice.
  @Test func itSurvivesARestart() async throws {
    let file = MemoryHistoryFile()
    try await ServiceHarness.with(Self.configure(file)) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      try await harness.simulate("GONE2") { $0.device.battery.percent = 12 }
      try await harness.attached("GONE2")
      try await harness.said("GONE2: alarm: battery < 20 %")
    }
    try await ServiceHarness.with(Self.configure(file)) { harness in
      let client = try await harness.client()
      let gone = try await Self.absent(client)
      #expect(gone.map(\.device.id) == ["GONE1", "GONE2"])
      #expect(gone.map { $0.last?.battery?.percent } == [15, 12])
      #expect(gone.map { $0.alarms?.count } == [1, 1])
      var events = try (try await harness.client()).stream(Bridge.Subscribe(alarms: true)).makeAsyncIterator()
      for id in ["GONE1", "GONE2"] { #expect(try await events.next()?.device?.id == id) }
      try await harness.simulate("GONE2") { $0.device.battery.percent = 12 }
      try await harness.attached("GONE2")
      let list = try await client.call(Bridge.List()).accessories
      #expect(list.map(\.device.id) == ["GONE2"] && list[0].alarms?.count == 1)
      #expect(!harness.log.value.contains { $0.contains("GONE2: alarm: ") })
      #expect(try await Self.absent(client).map(\.device.id) == ["GONE1"])
    }
  }

  @Test func itIsForgotten() async throws {
    let file = MemoryHistoryFile()
    try await ServiceHarness.with(Self.configure(file)) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      try await harness.simulate("HERE1")
      try await harness.attached("HERE1")
      #expect(await Self.error(Bridge.Forget(device: "HERE1"), client) == "Busy")
      #expect(await Self.error(Bridge.Forget(device: "NONE"), client) == "NoSuchDevice")
      let reader = try await harness.reader()
      #expect(await Self.error(Bridge.Forget(device: "GONE1"), reader) == "PermissionDenied")
      var events = try (try await harness.client()).stream(Bridge.Subscribe(alarms: true, changes: true))
        .makeAsyncIterator()
      while try await events.next()?.event != .ready {}
      #expect(try await client.call(Bridge.Forget(device: "GONE1")).device.id == "GONE1")
      let cleared = try await events.next()
      #expect(cleared?.event == .alarm && cleared?.state == .cleared)
      #expect(try await events.next()?.event == .changed)
      #expect(try await Self.absent(client).isEmpty)
    }
    #expect(!String(decoding: file.state.value.bytes ?? [], as: UTF8.self).contains("GONE1"))
  }

  @Test func itIsForgottenAfterATime() async throws {
    let wall = Watched(1_000_000.0)
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile(), wall: wall)) { harness in
      let client = try await harness.client()
      try await Self.leave("GONE1", harness, client)
      wall.update { $0 = 1_000_000 + 3_599 }
      await harness.service.use(forgetAfter: 3_600)
      #expect(try await Self.absent(client).count == 1)
      wall.update { $0 = 1_000_000 + 3_601 }
      await harness.service.use(forgetAfter: 3_600)
      #expect(try await Self.absent(client).isEmpty)
    }
  }

  /// What the user has detached isn't gone.
  @Test func whatIsDetachedIsNotAbsent() async throws {
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile())) { harness in
      let client = try await harness.client()
      try await harness.simulate("HERE1")
      try await harness.attached("HERE1")
      _ = try await client.call(Bridge.Detach(device: "HERE1"))
      #expect(try await client.call(Bridge.List(absent: true)).accessories.isEmpty)
    }
  }

  @Test func oneOfTwinsIsGone() async throws {
    try await ServiceHarness.with(Self.configure(MemoryHistoryFile())) { harness in
      let (client, directory) = (try await harness.client(), harness.directory.path)
      func plugIn(_ link: String) async throws -> AF1Simulator {
        try await harness.simulate("0001") { $0.link = "\(directory)/\(link)" }
      }
      func present() async throws -> [String] {
        try await client.call(Bridge.List()).accessories.filter { $0.state == .attached }.map(\.device.id).sorted()
      }
      let (first, second) = (try await plugIn("a"), try await plugIn("b"))
      let names = ["0001@\(directory)/a", "0001@\(directory)/b"]
      try await eventually("both") { try await present() == names }
      _ = try await client.call(Bridge.Name(device: names[0], name: "House battery"))
      await first.stop()
      try await eventually("one is absent") { try await Self.absent(client).map(\.device.id) == [names[0]] }
      #expect(try await present() == [names[1]])
      #expect(try await Self.absent(client).first?.device.given?.name == "House battery")
      _ = try await plugIn("a")
      try await eventually("both again") { try await present() == names }
      #expect(try await Self.absent(client).isEmpty)
      #expect(try await client.call(Bridge.GetInfo(device: "House battery")).accessory.device.id == names[0])
      await second.stop()
    }
  }

  // MARK: - Names

  /// What a user has typed goes before the configuration, until it is removed.
  @Test func theConfigurationMayNameAnAccessory() async throws {
    let change = try Self.configure(MemoryHistoryFile())
    try await ServiceHarness.with({
      change(&$0)
      $0.names = ["NAME1": GivenName(name: "Pack", area: "Attic")]
    }) { harness in
      let client = try await harness.client()
      try await harness.simulate("NAME1")
      try await harness.attached("NAME1")
      func given() async throws -> GivenName? { try await client.call(Bridge.List()).accessories.first?.device.given }
      #expect(try await given() == GivenName(name: "Pack", area: "Attic"))
      let named = try await client.call(Bridge.Name(device: "Pack", name: "House battery")).device
      #expect(named.given == GivenName(name: "House battery", area: "Attic"))
      await harness.service.use(["NAME1": GivenName(name: "Other", area: "Shed")])
      #expect(try await given() == GivenName(name: "House battery", area: "Shed"))
      #expect(try await client.call(Bridge.Name(device: "NAME1", name: "")).device.given?.name == "Other")
      await harness.service.use([:])
      #expect(try await given() == nil)
    }
  }

  @Test func anAccessoryHasANameOfItsOwn() async throws {
    let file = MemoryHistoryFile()
    try await ServiceHarness.with(Self.configure(file)) { harness in
      let client = try await harness.client()
      for id in ["NAME1", "NAME2"] {
        try await harness.simulate(id) { $0.device.battery.percent = 15 }
        try await harness.attached(id)
      }
      var events = try (try await harness.client()).stream(Bridge.Subscribe(changes: true)).makeAsyncIterator()
      while try await events.next()?.event != .ready {}
      let named = try await client.call(Bridge.Name(device: "NAME1", name: "House battery", area: "Attic")).device
      #expect(named.id == "NAME1" && named.given == GivenName(name: "House battery", area: "Attic"))
      let event = try await events.next()
      #expect(event?.event == .changed && event?.device?.given?.name == "House battery")
      // It is meant by its name, and its identity stays.
      let reply = try await client.call(Bridge.GetBattery(device: "House battery"))
      #expect(reply.device.id == "NAME1" && reply.device.given?.area == "Attic" && reply.battery.percent == 15)
      let list = try await client.call(Bridge.List()).accessories
      #expect(list.map(\.device.given?.name) == ["House battery", nil] && list.map(\.device.id) == ["NAME1", "NAME2"])
      // Two of one name are meant by neither.
      _ = try await client.call(Bridge.Name(device: "NAME2", name: "House battery"))
      #expect(
        await Self.error(Bridge.GetBattery(device: "House battery"), client) == "AmbiguousDevice")
      _ = try await client.call(Bridge.Name(device: "NAME2", name: ""))
      for name in ["NAME2", "a\u{1B}b", String(repeating: "x", count: 200)] {
        #expect(
          await Self.error(Bridge.Name(device: "NAME1", name: name), client) == "Misconfigured")
      }
      let reader = try await harness.reader()
      #expect(await Self.error(Bridge.Name(device: "NAME1"), reader) == "PermissionDenied")
    }
    try await ServiceHarness.with(Self.configure(file)) { harness in
      let client = try await harness.client()
      try await harness.simulate("NAME1")
      try await harness.attached("NAME1")
      #expect(try await client.call(Bridge.List()).accessories.first?.device.given?.name == "House battery")
      #expect(
        try await client.call(Bridge.Name(device: "NAME1", area: "")).device.given == GivenName(name: "House battery"))
      #expect(try await client.call(Bridge.Name(device: "NAME1", name: "")).device.given == nil)
      // One that is gone has a name, too.
      #expect(try await client.call(Bridge.Name(device: "NAME2", name: "Shed")).device.given?.name == "Shed")
      #expect(try await Self.absent(client).map(\.device.given?.name) == ["Shed"])
    }
  }
}

extension BridgeService {
  fileprivate func writeMemoryAgain() async {
    memory.kept.write(on: self)
    await memory.kept.finish(on: self)
  }
}
