// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// Many commands as fast as the link takes them, and a brick that has limits.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct EV3TrafficTests {
  /// Four callers, 2500 commands each, every one with a number of its own that must come back.
  @Test(arguments: EV3Bench.Way.allCases) func tenThousandCommandsGetTheirOwnReplies(way: EV3Bench.Way) async throws {
    let bench = try await EV3Bench.open(way)
    let brick = bench.brick
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for caller in 0..<4 {
        group.addTask {
          var wrong = 0
          for index in 0..<2_500 {
            let number = Int32(caller * 10_000 + index)
            let move = try EV3Instruction(
              .known(0x3A)!, [.constant(number, atLeast: .four), .global(0)])
            let command = try EV3DirectCommand(globalByteCount: 4, [move])
            let reply = try await brick.link.request(EV3Request(command, wantsReply: true))
            let expected = withUnsafeBytes(of: number.littleEndian) { Array($0) }
            if reply?.body != expected { wrong += 1 }
          }
          return wrong
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
    let counters = brick.link.statistics.link
    #expect(counters.replies == 10_001, "with the one that made contact")
    #expect(counters.unexpected == 0 && counters.lateReplies == 0 && counters.timeouts == 0)
    #expect(await bench.simulator.device.runs == 10_000)
    await bench.close()
  }

  /// Ten thousand without a reply to a brick that drops the link when more than eight wait: none is lost, and they come
  /// in their order.
  @Test func tenThousandCommandsDoNotOverrunABrick() async throws {
    var pace = EV3Simulator.Pace.overrun
    pace.perMessage = .microseconds(50)
    let bench = try await EV3Bench.open { $0.pace = pace }
    for index in 0..<10_000 {
      try await bench.brick.tell(.tone(volume: index % 100, frequency: 250 + index % 9_000, duration: .milliseconds(0)))
    }
    _ = try await bench.brick.ask(.nothing)
    let (device, overruns) = (await bench.simulator.device, await bench.simulator.overruns)
    #expect(overruns == 0)
    #expect(device.runs == 10_001)
    let last = (10_000 - EV3Device.recordLimit..<10_000).map {
      EV3Device.Sound.tone(volume: $0 % 100, frequency: 250 + $0 % 9_000, duration: .milliseconds(0))
    }
    #expect(device.sounds == last)
    await bench.close()
  }

  /// Without flow control the same brick drops the link: the option works.
  @Test(arguments: EV3Bench.Way.allCases) func withoutFlowControlTheLinkIsDropped(way: EV3Bench.Way) async throws {
    var options = EV3Exchange.Options()
    options.pacing = .gap(.zero)
    let bench = try await EV3Bench.open(way, options: options) { $0.pace = .overrun }
    let error = await #expect(throws: AccessoryError.self) {
      for _ in 0..<1_000 { try await bench.brick.tell(.nothing) }
      _ = try await bench.brick.ask(.nothing)
    }
    #expect(error?.kind == .disconnected)
    #expect(await bench.simulator.overruns == 1)
    await bench.close()
  }

  /// Long ones fill the brick's memory before there are many.
  @Test func largeCommandsDoNotOverrunABrick() async throws {
    let bench = try await EV3Bench.open { $0.pace = .overrun }
    var batch = EV3Batch()
    for _ in 0..<1_017 { try batch.add(.nothing) }
    for _ in 0..<50 { try await bench.brick.tell(batch) }
    _ = try await bench.brick.ask(.nothing)
    #expect(await bench.simulator.overruns == 0)
    #expect(await bench.simulator.device.runs == 51)
    await bench.close()
  }

  /// A command that waits isn't ended by flow control: what runs goes on to its end.
  @Test func markersEndNoCommand() async throws {
    let clock = ManualClock()
    var options = EV3Exchange.Options()
    options.unansweredCommands = 1
    let bench = try await EV3Bench.open(options: options, clock: clock)
    var tune = EV3Batch()
    for frequency in [262, 330, 392, 523] {
      try tune.add(.tone(volume: 50, frequency: frequency, duration: .milliseconds(150)))
      try tune.add(.soundReady)
    }
    try await bench.brick.tell(tune)
    // Asks for the open handles, as a marker does.
    _ = try await bench.brick.openHandles()
    for _ in 0..<4 {
      try await clock.waitForPending()
      clock.advance(by: .milliseconds(150))
    }
    while await bench.simulator.device.runs < 1 { _ = try await bench.brick.openHandles() }
    #expect(await bench.simulator.device.sounds.count == 4)
    #expect(await bench.simulator.device.abortions == 0)
    await bench.close()
  }
}
