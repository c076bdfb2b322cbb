// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryTesting
import TestSupport
import Testing

@testable import BridgeService

/// An accessory that sends its readings by itself, and can't be asked: with a clock that the test moves.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PushedTests {
  /// A block of VE.Direct with its checksum.
  static func block(_ lines: String...) -> [UInt8] {
    let bytes = Array((lines.map { "\r\n" + $0 }.joined() + "\r\nChecksum\t").utf8)
    return bytes + [0 &- bytes.reduce(0, &+)]
  }

  private static let main = block(
    "PID\t0xA389", "V\t53509", "I\t23866", "SOC\t548", "BMV\tSmartShunt 500A/50mV", "Alarm\tOFF", "AR\t0")
  private static let history = block("H1\t-276495", "H4\t3", "H7\t50422", "H18\t16783")

  /// A service with an attached VE.Direct device, which tells `blocks` at first.
  static func with(
    _ blocks: [UInt8], events: AsyncStream<Bridge.Event>.Continuation? = nil,
    _ body: (ServiceHarness, ManualClock, AccessorySession) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    let terminal = try await PseudoTerminal.open()
    let accessory = AccessorySession(terminal.transport)
    try await ServiceHarness.with(clock: clock, events: events) { harness in
      let file = try harness.announce(terminal.path, serial: "S1", driver: "vedirect")
      try await harness.said("S1 is attached at")
      try await accessory.write(blocks)
      try await harness.attached("S1")
      try await body(harness, clock, accessory)
      file.remove()
    }
    await accessory.close()
  }

  /// What was never asked for can't be answered while it pauses, and isn't waited for.
  @Test func whatNobodyAskedForBefore() async throws {
    try await Self.with(Self.main + Self.history + Self.main) { harness, clock, _ in
      clock.advance(by: .seconds(11))
      let client = try await harness.client()
      let name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetValues()) }
      #expect(name == "TimedOut")
    }
  }

  /// A block with another voltage each, as fast as the line takes them: few are told, and the last one is.
  @Test func aFloodOfBlocksIsGathered() async throws {
    let (events, continuation) = AsyncStream<Bridge.Event>.makeStream()
    let told = Watched<[Int]>([])
    let following = Task {
      for await event in events where event.event == .battery {
        told.update { $0.append(event.battery?.millivolts ?? 0) }
      }
    }
    try await Self.with(Self.main + Self.history + Self.main, events: continuation) { harness, clock, accessory in
      for number in 0..<1_000 { try await accessory.write(Self.block("PID\t0xA389", "V\t\(50_000 + number)")) }
      try await eventually("the last one is told") {
        clock.advance(by: .milliseconds(100))
        return told.value.last == 50_999
      }
      #expect(told.value.count < 300, "\(told.value.count)")
    }
    following.cancel()
  }

  /// Every answer has the age and the staleness of the service's one rule, also while the accessory pauses: nothing waits for it.
  @Test func allSayTheSameWhileItPauses() async throws {
    let (events, continuation) = AsyncStream<Bridge.Event>.makeStream()
    try await Self.with(Self.main + Self.history + Self.main, events: continuation) { harness, clock, accessory in
      let client = try await harness.client()
      func listed() async throws -> Bridge.ReadingsAge? {
        try await client.call(Bridge.List()).accessories.first?.readingsAge
      }
      for (pause, isStale) in [(9, false), (2, true), (60, true)] {
        clock.advance(by: .seconds(pause))
        let list = try #require(try await listed())
        let battery = try await client.call(Bridge.GetBattery())
        #expect(list.isStale == isStale && list.oldest >= .seconds(pause))
        #expect(battery.stale == (isStale ? true : nil) && battery.age_ms == list.oldest.inMilliseconds)
        #expect(battery.battery.millivolts == 53_509)
        #expect(try await client.call(Bridge.GetStatus()).stale == battery.stale)
        #expect(try await client.call(Bridge.GetValues()).values.allSatisfy { $0.isStale == isStale })
        #expect(try await client.call(Bridge.GetInfo()).identity?.model == "SmartShunt 500A/50mV")
      }
      // The same readings again are no change, but they are new; the event says so, too.
      try await accessory.write(Self.main)
      let isNew = Bridge.ReadingsAge(oldest: .zero, fresh: .seconds(10))
      for await event in events where event.event == .battery && event.readingsAge == isNew {
        // Events of the beginning are as new.
        if try await listed()?.isStale == false { break }
      }
      #expect(try await listed() == isNew)
      #expect(try await client.call(Bridge.GetBattery()).stale == nil)
    }
  }
}
