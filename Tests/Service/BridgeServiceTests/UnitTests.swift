// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import AccessoryTesting
import TestSupport
import Testing

@testable import BridgeService

/// Several accessories on one line.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct UnitTests {
  private static func profile(
    _ driver: String, _ units: UnitChoice?, every interval: Duration = .seconds(1)
  ) -> Profile {
    var profile = Profile(name: "bus", rules: [DeviceRule(serialNumber: "BUS")], driver: driver)
    profile.units = units
    profile.polls.all = .every(interval)
    return profile
  }

  /// How often each unit was asked, from now on.
  private static func asked(_ line: SerialSimulator<DescribedUnits>) -> Watched<[Int: Int]> {
    let asked = Watched<[Int: Int]>([:])
    Task {
      for await event in line.events {
        if case .news(let told) = event, case .asked = told.news { asked.update { $0[told.unit, default: 0] += 1 } }
      }
    }
    return asked
  }

  /// Sixteen meters: 3 says nothing, 4 answers late, 5 is taken off the line and put back; then the cable is pulled and plugged
  /// in again.
  @Test func sixteenUnitsOfALineArePolled() async throws {
    try await ServiceHarness.with(profiles: [Self.profile("sdm120", .list(Array(1...16)), every: .seconds(3))]) {
      harness in
      let line = try await harness.simulateLine("BUS", "sdm120", units: Array(1...16)) { devices in
        devices.silent = [3]
        devices.delays = [4: .milliseconds(100)]
        for unit in 1...16 {
          try devices.change(unit) { device throws(AccessoryError) in
            try device.set("voltage", to: .number(200 + Double(unit)))
          }
        }
      }
      let asked = Self.asked(line)
      let answering = Set(1...16).subtracting([3])
      for unit in answering { try await harness.said("BUS@\(unit) is attached at") }
      let client = try await harness.client()
      for unit in [2, 4, 16] {
        let reply = try await client.call(Bridge.GetValues(device: "BUS@\(unit)"))
        #expect(reply.device.unit == unit && reply.device.id == "BUS@\(unit)")
        #expect(reply.values.first { $0.name == "voltage" }?.number == 200 + Double(unit))
      }
      try await harness.said("BUS@3: ")
      let silent = try await client.call(Bridge.List()).accessories.first { $0.device.unit == 3 }
      #expect(silent?.state == .waiting || silent?.state == .opening)
      #expect(silent?.problem?.kind == "TimedOut")
      let name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetValues(device: "BUS@3"))
      }
      #expect(name == "TimedOut")

      // However slow this machine is, the others are asked as often as each other.
      try await Self.areAskedAlike(harness, asked, answering)
      await line.change { $0.silent.insert(5) }
      try await harness.said("BUS@5: ")
      #expect(try await harness.state("BUS@5") == .waiting)
      try await Self.areAskedAlike(harness, asked, answering.subtracting([5]))
      await line.change { $0.silent.remove(5) }
      try await harness.said("BUS@5 is attached at", times: 2)

      let events = try await harness.client().stream(Bridge.Subscribe())
      let gone = Watched<[Int: [Bridge.EventName]]>([:])
      let listening = Task {
        for try await event in events {
          guard let unit = event.device?.unit, [.connected, .disconnected].contains(event.event) else { continue }
          gone.update { $0[unit, default: []].append(event.event) }
        }
      }
      try await eventually("the subscription") { await harness.service.hasSubscribers }
      await line.unplug()
      try await gone.wait { gone in answering.allSatisfy { gone[$0] == [.disconnected] } }
      try await line.plugIn()
      try await gone.wait { gone in answering.allSatisfy { gone[$0] == [.disconnected, .connected] } }
      #expect(gone.value[3] == nil)
      listening.cancel()
    }
  }

  /// Waits until one of these units was asked often, and looks whether the others were, too. On a machine that is too slow for
  /// the protocol's time limit a unit may count as silent, and then it is asked after growing pauses: the service says so.
  private static func areAskedAlike(
    _ harness: ServiceHarness, _ asked: Watched<[Int: Int]>, _ units: Set<Int>
  ) async throws {
    func silences(_ unit: Int) -> Int { harness.log.value.count { $0.contains(" BUS@\(unit): ") } }
    for unit in units {
      try await eventually("BUS@\(unit)", within: .seconds(60)) {
        try await harness.state("BUS@\(unit)") == .attached
      }
    }
    let (before, silent) = (asked.value, units.map { (unit: $0, count: silences($0)) })
    @Sendable func count(_ unit: Int, _ now: [Int: Int]) -> Int { (now[unit] ?? 0) - (before[unit] ?? 0) }
    let now = try await asked.wait { now in units.contains { count($0, now) >= 12 } }
    let heard = silent.filter { silences($0.unit) == $0.count }.map(\.unit)
    #expect(heard.contains { count($0, now) >= 12 })
    for unit in heard { #expect((6...24).contains(count(unit, now)), "unit \(unit): \(count(unit, now))") }
  }

  @Test func unitsAreNamedByLineAndNumber() async throws {
    try await ServiceHarness.with(profiles: [Self.profile("daly", .list([1, 2, 5]))]) { harness in
      try await harness.simulateLine("BUS", "daly", units: [1, 2, 5])
      for unit in [1, 2, 5] { try await harness.attached("BUS@\(unit)") }
      let client = try await harness.client()
      let path = try #require(try await client.call(Bridge.List()).accessories.first?.device.path)
      #expect(try await client.call(Bridge.GetBattery(device: path + "@2")).device.id == "BUS@2")
      var name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetBattery(device: "BUS@7"))
      }
      #expect(name == "NoSuchDevice")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery(device: "BUS")) }
      #expect(name == "AmbiguousDevice")
      // One is let go of, and taken again; then all are.
      _ = try await client.call(Bridge.Detach(device: "BUS@2"))
      #expect(try await harness.state("BUS@2") == nil)
      #expect(try await harness.state("BUS@1") == .attached)
      #expect(try await client.call(Bridge.Attach(device: "BUS@2")).accessory.state == .attached)
      _ = try await client.call(Bridge.Detach(device: "BUS"))
      #expect(try await client.call(Bridge.List()).accessories.isEmpty)
      let reply = try await client.call(Bridge.Attach(device: "BUS"))
      #expect(reply.accessories?.map(\.device.id) == ["BUS@1", "BUS@2", "BUS@5"])
      #expect(reply.accessories?.allSatisfy { $0.state == .attached } == true)
    }
  }

  /// Whoever has the bytes of a line has those of all that are on it. Modbus can write, so that needs both permissions.
  @Test func lendingALineLendsItsUnits() async throws {
    var profile = Self.profile("sdm120", .list([1, 2, 3]), every: .seconds(60))
    profile.allowsWrites = true
    try await ServiceHarness.with(profiles: [profile]) { harness in
      try await harness.simulateLine("BUS", "sdm120", units: [1, 2, 3]) { $0.silent = [3] }
      for unit in [1, 2] { try await harness.said("BUS@\(unit) is attached at") }
      let client = try await harness.client()
      let refusal = await errorName { () throws(ControlError) in
        _ = try await client.upgrade(Bridge.Open(device: "BUS"))
      }
      #expect(refusal == "PermissionDenied")
      let (reply, transport) = try await harness.client().upgrade(Bridge.Open(device: "BUS@2", write: true))
      #expect(reply.device.id == "BUS@2")
      for unit in [1, 2, 3] { #expect(try await harness.state("BUS@\(unit)") == .lent) }
      let name = await errorName { () throws(ControlError) in
        _ = try await client.upgrade(Bridge.Open(device: "BUS", write: true))
      }
      #expect(name == "Busy")
      await transport.close()
      for unit in [1, 2] { try await harness.said("BUS@\(unit) is attached at", times: 2) }
      #expect(try await client.call(Bridge.GetValues(device: "BUS@1")).values.isEmpty == false)
    }
  }

  @Test func aSearchFindsTheUnitsOfALine() async throws {
    try await ServiceHarness.with(profiles: [Self.profile("daly", .scan, every: .seconds(60))]) { harness in
      let line = try await harness.simulateLine("BUS", "daly", units: [2, 5, 9]) { $0.silent = [9] }
      for unit in [2, 5] { try await harness.attached("BUS@\(unit)") }
      try await harness.said("BUS: the search for units has ended; found: 2, 5")
      let client = try await harness.client()
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.id) == ["BUS@2", "BUS@5"])
      // What was found stays, also when it keeps silent.
      await line.unplug()
      try await line.plugIn()
      for unit in [2, 5] { try await harness.said("BUS@\(unit) is attached at", times: 2) }
    }
  }

  /// Who wants the line while units are searched for has it at once; the search goes on later.
  @Test func theLineIsLentAmidASearch() async throws {
    var profile = Self.profile("daly", .scan, every: .seconds(60))
    profile.allowsWrites = true
    try await ServiceHarness.with(profiles: [profile]) { harness in
      try await harness.simulateLine("BUS", "daly", units: [1])
      try await harness.attached("BUS@1")
      #expect(!harness.log.value.contains { $0.contains("the search for units has ended") })
      let (reply, transport) = try await harness.client().upgrade(Bridge.Open(device: "BUS@1", write: true))
      #expect(reply.device.id == "BUS@1")
      await transport.close()
      try await harness.said("BUS@1 is attached at", times: 2)
      #expect(!harness.log.value.contains { $0.contains("the search for units has ended") })
    }
  }

  /// A number that the protocol doesn't have is refused at once, and nothing is held for it.
  @Test func unitsThatTheProtocolLacksAreRefused() async throws {
    try await ServiceHarness.with(profiles: [Self.profile("daly", .list([1]), every: .seconds(60))]) { harness in
      try await harness.simulateLine("BUS", "daly", units: [1])
      try await harness.attached("BUS@1")
      let client = try await harness.client()
      for unit in [0, 17, 65_535] {
        let name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Attach(device: "BUS@\(unit)"))
        }
        #expect(name == "Misconfigured")
      }
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.id) == ["BUS@1"])
    }
  }

  /// Without units in its profile a line has one accessory, and nobody else is asked.
  @Test func aLineWithoutUnitsIsOneAccessory() async throws {
    try await ServiceHarness.with(profiles: [Self.profile("daly", nil, every: .seconds(60))]) { harness in
      let line = try await harness.simulateLine("BUS", "daly", units: [1, 2, 5])
      let asked = Self.asked(line)
      try await harness.attached("BUS")
      #expect(Set(try await asked.wait { !$0.isEmpty }.keys) == [1])
      #expect(try await harness.client().call(Bridge.List()).accessories.map(\.device.unit) == [nil])
    }
  }

  @Test func aSearchAsksAllOnceThenOneAtATime() {
    var search = UnitSearch(
      1, Device(.node("/dev/ttyX"), source: .named), 1...4, taps: TapHub(clock: ManualClock()))
    #expect(search.take() == [1, 2, 3, 4])
    #expect(search.add(3) && !search.add(3) && search.add(1))
    search.ended(AccessoryError(.busy, "lent"))
    #expect(search.take() == [2, 4])
    search.ended(nil)
    #expect((0..<3).flatMap { _ in search.take() } == [2, 4, 2])
    #expect(search.add(2) && search.add(4))
    #expect(search.take().isEmpty)
    #expect(search.accessories.map(\.id) == (1...4).map { "/dev/ttyX@\($0)" })
  }
}

extension BridgeService {
  /// Whether somebody is told of events.
  var hasSubscribers: Bool { clients.events.hasSubscribers }
}
