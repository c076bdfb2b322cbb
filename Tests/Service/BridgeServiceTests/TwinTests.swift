// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import TestSupport
import Testing

@testable import BridgeService

/// A service with accessories that have one serial number.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct TwinTests {
  /// The present accessories with their identities and what their batteries have.
  private static func percents(_ client: ControlClient) async throws -> [String: Int?] {
    var percents: [String: Int?] = [:]
    for accessory in try await client.call(Bridge.List()).accessories where accessory.state == .attached {
      percents[accessory.device.id] =
        try await client.call(Bridge.GetBattery(device: accessory.device.place)).battery.percent
    }
    return percents
  }

  @discardableResult
  private static func plugIn(_ percent: UInt8, _ link: String, _ harness: ServiceHarness) async throws -> AF1Simulator {
    try await harness.simulate("0001") {
      $0.device.battery.percent = percent
      $0.link = "\(harness.directory.path)/\(link)"
    }
  }

  @Test(arguments: [["a", "b"], ["b", "a"]]) func eachHasItsNameByItsPort(order: [String]) async throws {
    try await ServiceHarness.with({ $0.reconnect.tries = .forever }) { harness in
      let client = try await harness.client()
      let percents: [String: UInt8] = ["a": 40, "b": 80]
      var simulators: [String: AF1Simulator] = [:]
      func name(_ link: String) -> String { "0001@\(harness.directory.path)/\(link)" }
      for link in order { simulators[link] = try await Self.plugIn(percents[link] ?? 0, link, harness) }
      let all = [name("a"): 40, name("b"): 80]
      try await eventually("both") { try await Self.percents(client) == all }
      // Its name is enough to reach it, and the serial number isn't.
      for (name, percent) in all {
        #expect(try await client.call(Bridge.GetBattery(device: name)).battery.percent == percent)
      }
      await #expect(throws: ControlError.self) { try await client.call(Bridge.GetBattery(device: "0001")) }
      // Whoever leaves.
      await simulators[order[0]]?.stop()
      try await eventually("one") { try await Self.percents(client).count == 1 }
      #expect(try await Self.percents(client) == [name(order[1]): percents[order[1]].map(Int.init)])
      // The serial number still means neither, since the other one is waited for.
      await #expect(throws: ControlError.self) { try await client.call(Bridge.GetBattery(device: "0001")) }
      try await Self.plugIn(percents[order[0]] ?? 0, order[0], harness)
      try await eventually("both again") { try await Self.percents(client) == all }
      #expect(try await client.call(Bridge.List()).accessories.count == 2)
    }
  }

  /// What is plugged in while the other one is away isn't that one.
  @Test func theOneThatComesIsNotTheOneThatIsAway() async throws {
    try await ServiceHarness.with({ $0.reconnect.tries = .forever }) { harness in
      let client = try await harness.client()
      let directory = harness.directory.path
      let first = try await Self.plugIn(40, "a", harness)
      let second = try await Self.plugIn(80, "b", harness)
      try await eventually("both") { try await Self.percents(client).count == 2 }
      await first.stop()
      await second.stop()
      try await eventually("none") { try await Self.percents(client).isEmpty }
      try await Self.plugIn(80, "b", harness)
      try await eventually("one") { try await Self.percents(client).count == 1 }
      #expect(try await Self.percents(client) == ["0001@\(directory)/b": 80])
      let away = try await client.call(Bridge.List()).accessories.first { $0.state == .waiting }
      #expect(away?.device.id == "0001@\(directory)/a")
    }
  }

  /// The port comes into the name of what is there, without closing it; who follows it is told, and sees the same accessory.
  @Test func theFirstOneIsRenamedAndStaysOpen() async throws {
    let rules = AlarmRules(typed: [try AlarmRule("low: battery < 50 %")])
    try await ServiceHarness.with({ $0.alarmRules = rules }) { harness in
      let client = try await harness.client()
      try await Self.plugIn(40, "a", harness)
      try await harness.attached("0001")
      let follower = try await harness.client()
      var events = try follower.stream(Bridge.Subscribe(device: "0001", alarms: true)).makeAsyncIterator()
      while let event = try await events.next(), event.event != .ready {}
      try await Self.plugIn(80, "b", harness)
      let name = "0001@\(harness.directory.path)/a"
      var told: [String] = []
      while told.count < 4, let event = try await events.next() {
        guard [.connected, .disconnected, .alarm].contains(event.event) else { continue }
        let state = event.state.map { " \($0.rawValue)" } ?? ""
        told.append("\(event.event.rawValue) \(event.device?.id ?? "")\(state)")
      }
      #expect(
        told == [
          "disconnected 0001", "alarm 0001 cleared", "connected \(name)", "alarm \(name) raised",
        ])
      #expect(harness.log.value.count { $0.contains("notice 0001 is attached at") } == 1)
      let low = try await client.call(Bridge.GetBattery(device: name))
      #expect(low.battery.percent == 40 && low.alarms?.map(\.name) == ["low"])
    }
  }

  /// Between a look at the list and a call, another accessory with the same serial number may get the path.
  @Test func aCallReachesNoOtherAccessoryThatHasThePathNow() async throws {
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .battery: .reply((try? AF1BatteryReply(level: .high, percent: 57).encoded()) ?? [])
      case .status: .reply((try? AF1StatusReply(state: .idle).encoded()) ?? [])
      case .hello: .silence
      default: .refusal(3)
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    func adapter(port: String) -> Device {
      Device(
        .terminal(terminal.path), source: .udev, driver: "framed", serialNumber: "A10K7Q",
        usb: USBIdentity(
          vendorID: 0x10C4, productID: 0xEA60, bus: 1, address: 7, node: "/dev/bus/usb/001/007", port: port))
    }
    let profile = Profile(name: "framed", rules: [DeviceRule(driver: "framed")], driver: "framed")
    try await ServiceHarness.with(profiles: [profile]) { harness in
      let client = try await BridgeClient.connect(to: harness.path)
      await harness.service.take(.added(adapter(port: "1-1.1")))
      try await harness.said("A10K7Q is attached at")
      let first = try await client.list()[0]
      #expect(first.key == "key:A10K7Q@1-1.1")
      func percent(_ device: BridgeDevice) async throws -> Int? {
        let read: Read<BatteryReading> = try await device.read()
        return read.percent
      }
      #expect(try await percent(client.device(first)) == 57)
      await harness.service.take(.removed(adapter(port: "1-1.1")))
      await harness.service.take(.added(adapter(port: "1-1.2")))
      try await eventually("the other one") { harness.log.value.count { $0.contains("A10K7Q is attached at") } == 2 }
      #expect(try await client.list().map(\.key) == ["key:A10K7Q@1-1.2"])
      #expect(try await percent(client.device(terminal.path)) == 57, "its path is the other one's")
      let count = accessory.requests.value.count
      let device = client.device(first)
      func isRefused(_ call: () async throws(AccessoryError) -> Void) async {
        do throws(AccessoryError) {
          try await call()
          Issue.record("it reached the other one")
        } catch {
          #expect(error.kind == .disconnected && error.message == "A10K7Q@1-1.1 was disconnected")
        }
      }
      await isRefused { () throws(AccessoryError) in _ = try await device.read() as Read<BatteryReading> }
      await isRefused { () throws(AccessoryError) in _ = try await device.request("battery", payload: []) }
      await isRefused { () throws(AccessoryError) in _ = try await device.open() }
      await isRefused { () throws(AccessoryError) in _ = try await device.entries(of: "/") }
      await isRefused { () throws(AccessoryError) in _ = try await device.detach() }
      #expect(accessory.requests.value.count == count)
      client.close()
    }
    await terminal.transport.close()
  }

  /// A file that can't be read at first is tried again, and what it says counts for those that are there.
  @Test func aFileThatCantBeReadIsTriedAgain() async throws {
    let (file, clock) = (MemoryHistoryFile(), ManualClock())
    func name(_ harness: ServiceHarness) async throws -> String? {
      let client = try await harness.client()
      defer { client.close() }
      return try await client.call(Bridge.List()).accessories.first?.device.id.split(separator: "/").last.map(
        String.init)
    }
    try await ServiceHarness.with({ $0.twinFile = file }) { harness in
      for link in ["a", "b"] { try await Self.plugIn(57, link, harness) }
      try await eventually("both") { file.state.value.replacements >= 1 }
    }
    let kept = file.state.value.bytes
    file.state.update { $0.readFailure = AccessoryError(.ioFailure, "reading /state/twins: input/output error") }
    try await ServiceHarness.with(clock: clock, { $0.twinFile = file }) { harness in
      try await harness.said("can't be read")
      try await Self.plugIn(57, "b", harness)
      try await eventually("one") { try await name(harness) == "0001" }
      file.state.update { $0.readFailure = nil }
      clock.advance(by: HistoryRecorder.shortPause)
      try await eventually("its name") { try await name(harness) == "b" }
    }
    #expect(file.state.value.bytes == kept)
  }

  @Test func theyAreRememberedAfterARestart() async throws {
    let file = MemoryHistoryFile()
    func run(_ links: [String]) async throws -> [String] {
      var names: [String] = []
      try await ServiceHarness.with({ $0.twinFile = file }) { harness in
        let client = try await harness.client()
        for link in links {
          try await harness.simulate("0001") { $0.link = "\(harness.directory.path)/\(link)" }
        }
        try await eventually("\(links)") { try await Self.percents(client).count == links.count }
        names = try await Self.percents(client).keys.map { String($0.split(separator: "/").last ?? "") }.sorted()
      }
      return names
    }
    #expect(try await run(["a"]) == ["0001"])
    #expect(try await run(["a", "b"]) == ["a", "b"])
    #expect(try await run(["b"]) == ["b"])
    #expect(file.state.value.replacements >= 1)
  }
}
