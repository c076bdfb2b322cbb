// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyAF1
@testable import FamilyAF1Simulator

/// The simulator from end to end: a pseudo-terminal, the real link and the real driver at its other end.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct AF1SimulatorTests {
  private func quiet(_ change: (inout AF1Simulator.Configuration) -> Void = { _ in }) -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    change(&configuration)
    return AF1Simulator(configuration)
  }

  private func open(_ path: String) async throws -> AF1Accessory {
    // A limit of time that a busy machine hardly reaches, and within what accessories remember.
    var options = AF1Exchange.Options()
    options.timeout = .seconds(4)
    let session = try await AccessorySession.open(TerminalConfiguration(path: path))
    return try await AF1Accessory.open(session, options: options)
  }

  @Test func aSimulatorTellsIdentityStatusAndBattery() async throws {
    let simulator = quiet { $0.device.battery = AF1BatteryReply(level: .low, percent: 9, millivolts: 3_000) }
    let accessory = try await open(try await simulator.plugIn())
    let identity = try await accessory.identify()
    #expect(identity.serialNumber == "SIM0001")
    #expect(identity.hardwareRevision == "A")
    #expect(try await accessory.status() == AccessoryStatus(state: .idle, reportsFaults: true))
    #expect(try await accessory.battery() == BatteryReading(percent: 9, level: .low, millivolts: 3_000))
    await accessory.close()
    await simulator.stop()
  }

  /// From nothing to the largest payload, with every byte and the sync bytes in it.
  @Test func payloadsOfAnySizeAreEchoed() async throws {
    let simulator = quiet()
    let accessory = try await open(try await simulator.plugIn())
    for count in [0, 1, 2, 255, 256, 1_023, 4_095, 4_096] {
      let bytes = (0..<count).map { $0 % 5 == 0 ? 0x0F : $0 % 5 == 1 ? 0xF0 : UInt8(truncatingIfNeeded: $0) }
      #expect(try await accessory.echo(bytes) == bytes)
    }
    let error = await #expect(throws: AccessoryError.self) {
      try await accessory.echo([UInt8](repeating: 0, count: 4_097))
    }
    #expect(error?.kind == .misconfigured)
    await accessory.close()
    await simulator.stop()
  }

  @Test func eventsArriveInOrderAndNoneIsMissing() async throws {
    let simulator = quiet()
    let accessory = try await open(try await simulator.plugIn())
    let events = accessory.events()
    for percent in (90..<100).reversed() {
      await simulator.setBattery(AF1BatteryReply(level: .high, percent: UInt8(percent)))
      await simulator.setStatus(AF1StatusReply(state: .busy, progress: UInt8(100 - percent)))
    }
    // What is no change is not told.
    await simulator.setStatus(AF1StatusReply(state: .busy, progress: 10))
    await simulator.setBattery(AF1BatteryReply(level: .low, percent: 1))
    var seen: [AF1Accessory.Event] = []
    for try await event in events {
      seen.append(event)
      if seen.count == 21 { break }
    }
    let expected: [AF1Accessory.Event] = (90..<100).reversed().flatMap { percent in
      [
        .battery(BatteryReading(percent: percent, level: .high)),
        .status(AccessoryStatus(state: .busy, progress: 100 - percent, reportsFaults: true)),
      ]
    }
    #expect(seen == expected + [.battery(BatteryReading(percent: 1, level: .low))])
    let counters = accessory.link.statistics.link
    #expect(counters.events == 21)
    #expect(counters.gaps == 0)
    await accessory.close()
    await simulator.stop()
  }

  @Test func aDrainingBatteryIsReportedToItsEnd() async throws {
    let simulator = quiet {
      $0.device.battery = AF1BatteryReply(level: .low, percent: 3, millivolts: 3_000, charge: .discharging)
      $0.drain = 100
    }
    try await simulator.plugIn()
    var percents: [UInt8?] = []
    for await event in simulator.events {
      if case .battery(let battery) = event { percents.append(battery.percent) }
      if percents.last == 0 { break }
    }
    #expect(percents == [2, 1, 0])
    await simulator.stop()
  }

  // MARK: - Faults

  /// What leaves a faulty line is just what the seed says, frame by frame.
  @Test(arguments: [1, 2, 99] as [UInt64]) func theSeedDecidesTheFaults(seed: UInt64) async throws {
    let simulator = quiet {
      $0.seed = seed
      $0.faults.drop = 0.3
      $0.faults.corrupt = 0.3
    }
    let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
    var random = SeededGenerator(seed: seed)
    _ = random.next()  // the boot id
    var faults = Faults()
    (faults.drop, faults.corrupt) = (0.3, 0.3)
    var line = FaultyLine(faults: faults, random: random)
    var expected: [UInt8] = []
    for number in 0..<60 as Range<UInt16> {
      let payload = [UInt8](repeating: UInt8(number), count: Int(number))
      let request = ScriptedAccessory.frame(.request(.echo, number: number), payload)
      try await session.write(request)
      let reply = ScriptedAccessory.frame(.reply(to: .request(.echo, number: number)), payload)
      expected += line.pass(reply) ?? []
    }
    var arrived: [UInt8] = []
    for try await piece in session.input {
      arrived += piece
      if arrived.count >= expected.count { break }
    }
    #expect(arrived == expected)
    await session.close()
    await simulator.stop()
  }

  @Test func whatMustNotRunTwiceDoesNotOverABadLine() async throws {
    let simulator = quiet {
      $0.seed = 3
      $0.faults.drop = 0.3
      $0.faults.corrupt = 0.2
    }
    let path = try await simulator.plugIn()
    var options = AF1Exchange.Options()
    // Short, as every lost frame costs one; but a busy machine, too, takes its time, and the accessory forgets after 10 s.
    (options.tries, options.timeout) = (20, .milliseconds(200))
    let session = try await AccessorySession.open(TerminalConfiguration(path: path, baudRate: 4_000_000))
    let accessory = try await AF1Accessory.open(session, options: options)
    for run in 1...15 as ClosedRange<UInt8> {
      #expect(try await accessory.request(AF1Device.count) == [run, 0, 0, 0])
    }
    #expect(await simulator.runs == 15)
    await accessory.close()
    await simulator.stop()
  }
}
