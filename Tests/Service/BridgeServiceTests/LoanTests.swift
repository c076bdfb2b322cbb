// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// `Open`: one client has the accessory for itself.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct LoanTests {
  @Test func aLentAccessoryIsBusyForOthers() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1") { $0.device.battery = AF1BatteryReply(level: .normal, percent: 57) }
      try await harness.attached("A1")
      let borrower = try await harness.client()
      let (reply, transport) = try await borrower.upgrade(Bridge.Open(device: "A1"))
      #expect(reply.device.id == "A1")
      // Whoever has the bytes can speak the accessory's protocol.
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      #expect(try await accessory.battery().percent == 57)

      let client = try await harness.client()
      #expect(try await harness.state("A1") == .lent)
      var name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Request(command: "echo", payload: [1]))
      }
      #expect(name == "Busy")
      name = await errorName { () throws(ControlError) in _ = try await client.upgrade(Bridge.Open()) }
      #expect(name == "Busy")
      let battery = try await client.call(Bridge.GetBattery())
      #expect(battery.battery.percent == 57)
      #expect(battery.age_ms != nil)
      #expect(try await client.call(Bridge.GetStatus()).age_ms != nil)
      #expect(try await client.call(Bridge.GetInfo()).identity?.serialNumber == "A1")
      #expect(try await accessory.echo([1, 2]) == [1, 2])

      await accessory.close()
      try await harness.said("A1 is attached at", times: 2)
      #expect(try await client.call(Bridge.Request(command: "echo", payload: [5])).reply.payload == [5])
      #expect(try await client.call(Bridge.GetBattery()).age_ms == nil)
    }
  }

  /// What the accessory was asked before is answered first: no answer to somebody else is among the client's bytes.
  @Test func answersBeforeTheLoanAreNotLent() async throws {
    let command = AF1Command(rawValue: 0x7D)
    let accessory = ScriptedAccessory { $0.command == command || $0.command == .hello ? .silence : .refusal(1) }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is attached at")
      let client = try await harness.client()
      let request = Task { try await client.call(Bridge.Request(command: "0x7D")).reply.payload }
      let asked = try await accessory.requests.wait { $0.contains { $0.command == command } }
      let loan = Task { try await harness.client().upgrade(Bridge.Open()).transport }
      try await eventually("the loan") { try await harness.state("S1") == .lent }
      let number = try #require(asked.last { $0.command == command }).number
      let answer = ScriptedAccessory.frame(.reply(to: .request(command, number: number)), [1, 2, 3])
      #expect(terminal.transport.output.offer(answer) == .accepted)
      #expect(try await request.value == [1, 2, 3])
      let transport = try await loan.value
      _ = terminal.transport.output.offer(Array("mine".utf8))
      var (bytes, got): ([UInt8], [UInt8]) = ([], [])
      try await eventually("the bytes") {
        if case .bytes = transport.input.take(into: &bytes) { got += bytes }
        return got.count >= 4
      }
      #expect(got == Array("mine".utf8))
      await transport.close()
      file.remove()
    }
    await terminal.transport.close()
  }

  /// The cable is pulled while a client has it: the client's connection ends, and the accessory is awaited.
  @Test func anUnplugEndsALoan() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let (_, transport) = try await harness.client().upgrade(Bridge.Open())
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      var news = accessory.news().makeAsyncIterator()
      await simulator.unplug()
      let gone = await #expect(throws: AccessoryError.self) { while try await news.next() != nil {} }
      #expect(gone?.kind == .disconnected)
      try await harness.said("A1 is given back")
      try await simulator.plugIn()
      try await harness.said("A1 is attached at", times: 2)
      await accessory.close()
    }
  }

  /// Let go of by hand, the loan ends.
  @Test func detachingEndsALoan() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (_, transport) = try await harness.client().upgrade(Bridge.Open())
      _ = try await harness.client().call(Bridge.Detach())
      let isOver = Watched(false)
      transport.output.onClosed { _ in isOver.update { $0 = true } }
      try await isOver.wait { $0 }
      #expect(try await harness.state("A1") == nil)
      _ = try await harness.client().call(Bridge.Attach(device: "A1"))
      #expect(try await harness.state("A1") == .attached)
      await transport.close()
    }
  }

  /// A client that takes nothing of what the accessory sends holds up nobody else.
  @Test func aBorrowerThatNeverReadsHoldsUpNobody() async throws {
    let terminal = try await PseudoTerminal.open()
    let raw = Profile(name: "raw", rules: [DeviceRule(driver: "other")])
    try await ServiceHarness.with(profiles: [raw, .af1]) { harness in
      let file = try harness.announce(terminal.path, serial: "R1", driver: "other")
      try await harness.simulate("A1")
      try await harness.said("R1 is attached at")
      try await harness.attached("A1")
      let lazy = try RawClient(path: harness.path)
      lazy.send(#"{"method":"accessorybridge.Bridge.Open","parameters":{"device":"R1"},"upgrade":true}"#)
      try await eventually("the loan") { try await harness.state("R1") == .lent }
      // As much as nobody's buffers hold.
      let flood = Task {
        let bytes = [UInt8](repeating: 0x55, count: 4_096)
        for _ in 0..<4_096 {
          while case .full = terminal.transport.output.offer(bytes) {
            if Task.isCancelled { return }
            try await Task.sleep(for: .milliseconds(1))
          }
        }
      }
      let client = try await harness.client()
      for number in 0..<200 {
        let payload = [UInt8(number)]
        let reply = try await client.call(Bridge.Request(device: "A1", command: "echo", payload: payload))
        #expect(reply.reply.payload == payload)
      }
      flood.cancel()
      lazy.close()
      try await harness.said("R1 is given back")
      file.remove()
    }
    await terminal.transport.close()
  }
}
