// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// The method History of a service in this process.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HistoryCallTests {
  @Test func whatWasReadIsAnswered() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("S1") { $0.device.battery.percent = 57 }
      try await harness.attached("S1")
      let reader = try await harness.reader()
      let reply = try await reader.call(Bridge.GetHistory(device: "S1"))
      #expect(reply.device?.id == "S1")
      let series = reply.series.map(\.series)
      let percent = try #require(series.first { $0.name == ReadingSeries.percent })
      #expect(percent.unit == "%" && percent.points.last?.mean == 57)
      let age = WallClock.seconds - (percent.points.last?.time ?? 0)
      #expect((0...600).contains(age))
      let one = try await reader.call(Bridge.GetHistory(names: ["battery.voltage", "missing"], since: 3_600))
      #expect(one.series.map(\.name) == series.map(\.name).filter { $0 == "battery.voltage" })
      for since in [-1, .infinity] as [Double] where since.isFinite {
        #expect(
          await errorName(of: { () async throws(ControlError) in
            _ = try await reader.call(Bridge.GetHistory(since: since))
          }) == "InvalidParameter")
      }
      #expect(
        await errorName(of: { () async throws(ControlError) in
          _ = try await reader.call(Bridge.GetHistory(device: "S2"))
        }) == "NoSuchDevice")
    }
  }

  @Test func whatIsGoneHasItsHistory() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("S1") { $0.device.battery.percent = 57 }
      try await harness.attached("S1")
      let client = try await harness.client()
      _ = try await client.call(Bridge.Detach(device: "S1"))
      await simulator.stop()
      let reply = try await client.call(Bridge.GetHistory(device: "S1"))
      #expect(reply.device == nil)
      #expect(reply.series.map(\.series).first { $0.name == ReadingSeries.percent }?.last?.mean == 57)
    }
  }
}
