// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryTesting
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// Readings that may not be earlier ones (`fresh`).
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct FreshTests {
  private static let fresh = ReadingWish(isFresh: true)

  /// The accessory is asked once for each call, on both sockets: nobody can have it asked more often.
  @Test func anAccessoryIsAskedAsOftenAsWithoutIt() async throws {
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .battery: .reply([2, 57])
      case .status: .reply([0, 0, 0, 0xFF])
      case .identify: .refusal(1)
      // Greeted as usual.
      default: .silence
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is attached at")
      try await eventually("the first battery") { accessory.requests.value.contains { $0.command == .battery } }
      for client in [try await harness.client(), try await harness.reader()] {
        for wish in [ReadingWish(), Self.fresh] {
          let count = accessory.requests.value.count { $0.command == .battery }
          let battery = try await client.call(Bridge.GetBattery(device: "S1", wish))
          #expect(battery.battery.percent == 57 && battery.age_ms == nil)
          #expect(accessory.requests.value.count { $0.command == .battery } == count + 1)
        }
      }
      file.remove()
    }
    await terminal.transport.close()
  }

  /// A lent accessory can't be asked. Who wants a fresh reading isn't given an old one.
  @Test func aLentAccessoryIsBusy() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1") { $0.device.battery = AF1BatteryReply(level: .normal, percent: 57) }
      try await harness.attached("A1")
      let (_, transport) = try await harness.client().upgrade(Bridge.Open(device: "A1"))
      let client = try await harness.client()
      #expect(try await client.call(Bridge.GetBattery()).battery.percent == 57)
      let battery = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetBattery(Self.fresh))
      }
      let status = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetStatus(Self.fresh))
      }
      let values = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetValues(Self.fresh))
      }
      #expect([battery, status, values] == ["Busy", "Busy", "Busy"])
      await transport.close()
    }
  }

  /// What an accessory never has, it doesn't have for those who want it fresh.
  @Test func whatIsUnsupportedStaysSo() async throws {
    let accessory = ScriptedAccessory { _ in .refusal(1) }
    let terminal = try await accessory.onPseudoTerminal()
    let profile = Profile(name: "bare", rules: [DeviceRule(driver: "bare")])
    try await ServiceHarness.with(profiles: [profile]) { harness in
      let file = try harness.announce(terminal.path, serial: "S1", driver: "bare")
      try await harness.said("S1 is attached at")
      let client = try await harness.client()
      let name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetBattery(Self.fresh))
      }
      #expect(name == "Unsupported")
      file.remove()
    }
    await terminal.transport.close()
  }

  /// One that sends its readings by itself isn't asked: the next one is waited for, as long as readings are fresh.
  @Test func theNextReadingIsWaitedFor() async throws {
    let main = PushedTests.block("PID\t0xA389", "V\t53509")
    try await PushedTests.with(main + PushedTests.block("H4\t3") + main) { harness, clock, accessory in
      let client = try await harness.client()
      clock.advance(by: .seconds(5))
      #expect(try await client.call(Bridge.GetBattery()).age_ms == 5_000)
      let timers = clock.scheduledCount
      async let asked = client.call(Bridge.GetBattery(Self.fresh))
      try await eventually("it is waited for") { clock.scheduledCount > timers }
      try await accessory.write(PushedTests.block("PID\t0xA389", "V\t53600"))
      let battery = try await asked
      #expect(battery.battery.millivolts == 53_600 && battery.age_ms == 0 && battery.stale == nil)
      // Without another one, what is known is no answer, whether it is stale or not.
      for pause in [0, 60] {
        clock.advance(by: .seconds(pause))
        let late = Task {
          await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery(Self.fresh)) }
        }
        let isOver = Watched(false)
        Task {
          _ = await late.value
          isOver.update { $0 = true }
        }
        try await eventually("the limit") {
          clock.advance(by: .milliseconds(500))
          return isOver.value
        }
        #expect(await late.value == "TimedOut")
      }
      #expect(try await client.call(Bridge.GetBattery()).battery.millivolts == 53_600)
    }
  }
}
