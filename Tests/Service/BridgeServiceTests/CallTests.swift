// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// What clients get, with simulators on real pseudo-terminals.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct CallTests {
  @Test func everyCallIsAnswered() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1") {
        $0.device.battery = AF1BatteryReply(level: .normal, percent: 57, millivolts: 3_712, charge: .discharging)
      }
      try await harness.attached("A1")
      let client = try await harness.client()
      let list = try await client.call(Bridge.List())
      #expect(list.accessories.map(\.device.id) == ["A1"])
      #expect(list.accessories.map(\.state) == [.attached])
      let battery = try await client.call(Bridge.GetBattery(device: "A1"))
      #expect(
        battery.battery == BatteryReading(percent: 57, level: .normal, millivolts: 3_712, charge: .discharging))
      #expect(battery.age_ms == nil)
      let status = try await client.call(Bridge.GetStatus())
      #expect(status.status == AccessoryStatus(state: .idle, reportsFaults: true))
      #expect(status.identity.serialNumber == "A1")
      let info = try await client.call(Bridge.GetInfo(device: "A"))
      #expect(info.line?.baud == 115_200)
      #expect(info.protocol?.name == "AF1" && info.protocol?.bootID != nil)
      #expect(info.identity?.serialNumber == "A1")
      let echo = try await client.call(Bridge.Request(command: "echo", payload: [1, 2, 3]))
      #expect(echo.reply.payload == [1, 2, 3])
      #expect(echo.command == "echo" && echo.command_byte == AF1Command.echo.rawValue)
      let number = try await client.call(
        Bridge.Request(command: "0x" + Hexadecimal.string([AF1Command.echo.rawValue]), payload: [9]))
      #expect(number.reply.payload == [9])
    }
  }

  @Test func mistakesInCallsHaveErrorNames() async throws {
    try await ServiceHarness.with { harness in
      let client = try await harness.client()
      var name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery()) }
      #expect(name == "NoSuchDevice")
      try await harness.simulate("A1")
      try await harness.simulate("A2")
      try await harness.attached("A1")
      try await harness.attached("A2")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery(device: "A")) }
      #expect(name == "AmbiguousDevice")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetStatus(device: "B")) }
      #expect(name == "NoSuchDevice")
      for command in ["", "reboot", "0x", "0x100", "0x1g", "18"] {
        name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Request(device: "A1", command: command))
        }
        #expect(name == "InvalidParameter")
      }
      name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Request(device: "A1", command: "0x42"))
      }
      #expect(name == "Refused")
      #expect(await errorName { () throws(ControlError) in _ = try await client.call(Bridge.List()) } == nil)
    }
  }

  /// A request that takes too long is given up, and the next one is answered.
  @Test func aRequestHasTheTimeThatItsClientGives() async throws {
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .echo: .reply(request.payload)
      case AF1Command(rawValue: 0x7D), .hello: .silence
      default: .refusal(1)
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is attached at")
      let client = try await harness.client()
      let name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Request(command: "0x7D", timeout_ms: 5))
      }
      #expect(name == "TimedOut")
      #expect(try await client.call(Bridge.Request(command: "echo", payload: [7])).reply.payload == [7])
      file.remove()
    }
    await terminal.transport.close()
  }

  /// Nothing has a default: a device that no profile fits and that was announced with no driver of ours is held as bytes,
  /// and is sent nothing.
  @Test(arguments: [nil, "later"]) func nothingIsSentWithoutADriver(driver: String?) async throws {
    let recorder = try openPseudoTerminal(raw: true)
    try await ServiceHarness.with(profiles: [.af1]) { harness in
      let file = try driver.map { try harness.announce(recorder.path, serial: "R1", driver: $0) }
      let client = try await harness.client()
      let accessory = try await client.call(Bridge.Attach(device: recorder.path)).accessory
      #expect(accessory.state == .attached && accessory.driver == nil && accessory.protocols == [])
      try await harness.said("is attached at \(recorder.path) without a driver: only its bytes can be used")
      let error = await #expect(throws: ControlError.self) { try await client.call(Bridge.GetBattery()) }
      #expect(error?.accessoryError.kind == .unsupported)
      #expect(error?.description.contains(driver ?? "the protocol of") == true)
      var name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetStatus()) }
      #expect(name == "Unsupported")
      name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Request(command: "identify"))
      }
      #expect(name == "Unsupported")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetCommands()) }
      #expect(name == "Unsupported")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.ListFolder(path: "/")) }
      #expect(name == "Unsupported")
      _ = try await client.call(Bridge.GetInfo())
      let (_, transport) = try await client.upgrade(Bridge.Open())
      await transport.close()
      try await harness.said("is attached at \(recorder.path)", times: 2)
      file?.remove()
    }
    #expect(recorder.received() == [])
  }

  /// A profile without a driver: clients bring their own.
  @Test func withoutADriverAClientGetsOnlyBytes() async throws {
    let raw = Profile(name: "raw", rules: [DeviceRule(name: "Raw*")])
    let terminal = try await PseudoTerminal.open()
    try await ServiceHarness.with(profiles: [raw]) { harness in
      let file = try harness.announce(terminal.path, serial: "R1", name: "Raw thing", driver: "other")
      try await harness.said("R1 is attached at")
      let client = try await harness.client()
      var name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery()) }
      #expect(name == "Unsupported")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetStatus()) }
      #expect(name == "Unsupported")
      let info = try await client.call(Bridge.GetInfo())
      #expect(info.line?.baud == 115_200 && info.identity == nil && info.protocol == nil)

      // What it says to nobody is passed over, and doesn't wait for the next to open it.
      _ = terminal.transport.output.offer(Array("early".utf8))
      let tracer = try await harness.client()
      var pieces = try tracer.stream(Bridge.Trace()).makeAsyncIterator()
      _ = try await pieces.next()
      _ = terminal.transport.output.offer(Array("late".utf8))
      var seen: [UInt8] = []
      while !seen.suffix(4).elementsEqual("late".utf8) {
        seen += try #require(try await pieces.next()).bytes ?? []
      }

      let (_, transport) = try await client.upgrade(Bridge.Open())
      _ = terminal.transport.output.offer(Array("mine".utf8))
      var bytes: [UInt8] = []
      var got: [UInt8] = []
      try await eventually("the bytes") {
        if case .bytes = transport.input.take(into: &bytes) { got += bytes }
        return got == Array("mine".utf8)
      }
      _ = transport.output.offer(Array("yours".utf8))
      got = []
      try await eventually("the other bytes") {
        if case .bytes = terminal.transport.input.take(into: &bytes) { got += bytes }
        return got == Array("yours".utf8)
      }
      await transport.close()
      file.remove()
    }
    await terminal.transport.close()
  }

  @Test func subscribersAreToldOfEveryEvent() async throws {
    try await ServiceHarness.with { harness in
      let one = try await harness.simulate("A1")
      try await harness.attached("A1")
      let events = try await harness.client().stream(Bridge.Subscribe())
      var iterator = events.makeAsyncIterator()
      func next() async throws -> Bridge.Event { try #require(try await iterator.next()) }
      var event = try await next()
      #expect(event.event == .present && event.device?.id == "A1")
      event = try await next()
      #expect(event.event == .ready && event.device == nil)
      await one.setBattery(AF1BatteryReply(level: .low, percent: 9))
      event = try await next()
      #expect(event.event == .battery && event.battery?.percent == 9 && event.device?.id == "A1")
      await one.setStatus(AF1StatusReply(state: .paused))
      event = try await next()
      #expect(event.event == .status && event.status?.state == .paused)
      let client = try await harness.client()
      _ = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.Request(command: "0x42")) }
      event = try await next()
      #expect(event.event == .requestFailed && event.problem?.kind == "Refused")
      await one.unplug()
      event = try await next()
      #expect(event.event == .disconnected && event.problem?.kind == "Disconnected")
      try await one.plugIn()
      while event.event != .connected { event = try await next() }
      #expect(event.device?.id == "A1")
    }
  }

  /// Who asks for it learns of a device before it is open, also of one that was found before; others don't.
  @Test func foundDevicesAreToldBeforeTheyAreOpen() async throws {
    try await ServiceHarness.with { harness in
      var events = try await harness.client().stream(Bridge.Subscribe(found: true)).makeAsyncIterator()
      #expect(try await events.next()?.event == .ready)
      // It answers nothing, so it isn't attached.
      try await harness.simulate("A1") { $0.faults.drop = 1 }
      let event = try #require(try await events.next())
      #expect(event.event == .found && event.device?.id == "A1")
      var later = try await harness.client().stream(Bridge.Subscribe(found: true)).makeAsyncIterator()
      #expect(try await later.next()?.event == .found)
      #expect(try await later.next()?.event == .ready)
      var others = try await harness.client().stream(Bridge.Subscribe()).makeAsyncIterator()
      #expect(try await others.next()?.event == .ready)
    }
  }

  @Test func whatPassesIsShown() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let pieces = try await harness.client().stream(Bridge.Trace(device: "A1"))
      var iterator = pieces.makeAsyncIterator()
      let first = try await iterator.next()
      #expect(first?.bytes == [])
      _ = try await harness.client().call(Bridge.Request(command: "echo", payload: Array("marked".utf8)))
      var (sent, received): ([UInt8], [UInt8]) = ([], [])
      var last = first?.time ?? 0
      while received.isEmpty {
        let piece = try #require(try await iterator.next())
        #expect(piece.time >= last)
        last = piece.time
        if piece.direction == "to_device" { sent += piece.bytes ?? [] } else { received += piece.bytes ?? [] }
      }
      #expect(String(decoding: sent, as: UTF8.self).contains("marked"))
      #expect(String(decoding: received, as: UTF8.self).contains("marked"))
    }
  }

  /// A listener that takes nothing costs a bounded amount, and is told what it missed: as much as passed.
  @Test func whatAListenerMissesIsCounted() async throws {
    let hub = TapHub(clock: ManualClock())
    let (listener, stop) = hub.listen()
    let bytes = [UInt8](repeating: 1, count: 1_000)
    for _ in 0..<1_000 { hub.passed(.fromDevice, bytes.span.bytes) }
    let taken = listener.take()
    #expect(taken.count == (1 << 18) / 1_000)
    for _ in 0..<1_000 { hub.passed(.toDevice, bytes.span.bytes) }
    let next = listener.take()
    #expect(next.first?.lostBytes == 1_000_000 - 1_000 * taken.count)
    #expect(next.dropFirst().allSatisfy { $0.lostBytes == 0 })
    #expect(listener.takeLoss() == 1_000_000 - 1_000 * next.count)
    #expect(listener.takeLoss() == 0)
    stop()
  }
}
