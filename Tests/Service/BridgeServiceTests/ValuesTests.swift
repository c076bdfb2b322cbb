// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// A gadget that can't be asked, and says "name=number" whenever it likes.
private struct Talker: LinkedAccessory {
  let link: Link<LineExchange>

  static let driver = Driver(name: "talker", rawBytes: .harmless) { session, _, _ throws(AccessoryError) in
    Talker(link: try await Link.open(session, rules: LineExchange(label: session.label)))
  }

  func news() -> EventStream<AccessoryNews> {
    link.news { line in
      let parts = String(decoding: line, as: UTF8.self).split { "=\n".contains($0) }
      guard parts.count == 2 else { return .other }
      return .values([AccessoryValue(String(parts[0]), quantity: .voltage, unit: .volt, number: Double(parts[1]))])
    }
  }
}

/// What accessories measure, through the service.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ValuesTests {
  @Test func valuesAreReadWhenAskedFor() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await harness.client()
      let reply = try await client.call(Bridge.GetValues(device: "A1"))
      #expect(reply.device.id == "A1" && reply.values.count == 6)
      #expect(
        reply.values.first?.value
          == AccessoryValue("state", quantity: .state, content: .choice(word: "idle", number: 0)))
      #expect(reply.values.allSatisfy { $0.age == nil })
      await simulator.setStatus(AF1StatusReply(state: .busy, progress: 3))
      let progress = try await client.call(Bridge.GetValues()).values.first { $0.name == "progress" }
      #expect(progress?.number == 3 && progress?.unit == "%")
    }
  }

  /// While it is lent: what was last heard, each with its age; what was never heard is Busy.
  @Test func valuesOfALentAccessoryHaveTheirAge() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await harness.client()
      var (_, transport) = try await harness.client().upgrade(Bridge.Open())
      let name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetValues()) }
      #expect(name == "Busy")
      await transport.close()
      try await harness.said("A1 is attached at", times: 2)
      let asked = try await client.call(Bridge.GetValues()).values
      (_, transport) = try await harness.client().upgrade(Bridge.Open())
      let values = try await client.call(Bridge.GetValues()).values
      #expect(values.map(\.value) == asked.map(\.value) && values.allSatisfy { $0.age ?? .seconds(-1) >= .zero })
      await transport.close()
    }
  }

  /// Nothing is asked of an accessory for values until somebody asks for them, and then once.
  @Test func nothingIsAskedUntilSomebodyAsks() async throws {
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .identify: .reply(Array("m\0n\0o\0S1\0f\0h\0".utf8))
      case .status: .reply([0, 0, 0, 0xFF])
      case .battery: .reply([2])
      default: .silence
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.attached("S1")
      let events = try await harness.client().stream(Bridge.Subscribe(values: true))
      var iterator = events.makeAsyncIterator()
      while try #require(try await iterator.next()).event != .ready {}
      let before = accessory.requests.value.count
      let client = try await harness.client()
      _ = try await client.call(Bridge.GetValues())
      #expect(accessory.requests.value.dropFirst(before).map(\.command) == [.status])
      // All that it was asked for is new, and is told; and nothing when nothing has changed.
      let event = try #require(try await iterator.next())
      #expect(event.event == .values && event.values?.count == 6)
      _ = try await client.call(Bridge.GetValues())
      await harness.service.proveLife()
      file.remove()
      while let event = try await iterator.next(), event.event != .disconnected { #expect(event.event != .values) }
    }
    await terminal.transport.close()
  }

  /// Who runs the service is told of values, too, where no client has asked for them.
  @Test func theServiceTellsWithoutClients() async throws {
    let terminal = try await PseudoTerminal.open()
    let profile = Profile(name: "talker", rules: [DeviceRule(driver: "talker")], driver: "talker")
    let (events, told) = AsyncStream<Bridge.Event>.makeStream()
    try await ServiceHarness.with(
      profiles: [profile], drivers: DriverLibrary([Talker.driver]), events: told
    ) { harness in
      _ = try harness.announce(terminal.path, serial: "T1", driver: "talker")
      try await harness.said("T1 is attached at")
      _ = terminal.transport.output.offer(Array("u=1\n".utf8))
      let values = await events.first { $0.event == .values }
      #expect(values?.values?.map(\.name) == ["u"])
    }
    await terminal.transport.close()
  }

  /// One that tells of its own accord: subscribers who asked for values are told the latest, others nothing; and a
  /// client is told what was last heard, with its age.
  @Test func pushedValuesAreToldToSubscribers() async throws {
    let terminal = try await PseudoTerminal.open()
    let profile = Profile(name: "talker", rules: [DeviceRule(driver: "talker")], driver: "talker")
    try await ServiceHarness.with(profiles: [profile], drivers: DriverLibrary([Talker.driver])) { harness in
      let file = try harness.announce(terminal.path, serial: "T1", driver: "talker")
      try await harness.said("T1 is attached at")
      let client = try await harness.client()
      let none = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetValues()) }
      #expect(none == "Unsupported")
      var wanting = try await harness.client().stream(Bridge.Subscribe(values: true)).makeAsyncIterator()
      while try #require(try await wanting.next()).event != .ready {}
      var other = try await harness.client().stream(Bridge.Subscribe()).makeAsyncIterator()
      while try #require(try await other.next()).event != .ready {}
      _ = terminal.transport.output.offer(Array("u=1\n".utf8))
      let first = try #require(try await wanting.next())
      #expect(first.event == .values && first.device?.id == "T1")
      #expect(first.values?.map(\.value) == [AccessoryValue("u", quantity: .voltage, unit: .volt, number: 1)])
      for number in 2...50 { _ = terminal.transport.output.offer(Array("u=\(number)\ni=\(number)\n".utf8)) }
      var told: [Bridge.Event] = []
      while told.last?.values?.first(where: { $0.name == "u" })?.number != 50 {
        told.append(try #require(try await wanting.next()))
      }
      // In one event or, where the machine is slow, in few: not in as many as it has told.
      #expect(told.count < 10 && told.allSatisfy { $0.event == .values })
      let values = try await client.call(Bridge.GetValues()).values
      #expect(values.map(\.name) == ["u", "i"] && values.map(\.number) == [50, 50])
      #expect(values.allSatisfy { $0.age ?? .seconds(-1) >= .zero })
      file.remove()
      #expect(try await other.next()?.event == .disconnected)
    }
    await terminal.transport.close()
  }
}
