// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator
@testable import FamilyMAVLink
@testable import FamilyMAVLinkSimulator

/// A pretended autopilot from end to end: the real driver and the real link at the other end of a terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct MAVLinkSimulatorTests {
  private struct Bench {
    let simulator: MAVLinkSimulator
    let autopilot: MAVLinkAutopilot

    static func open(
      _ change: (inout MAVLinkDevice.Configuration, inout Faults) -> Void = { _, _ in }
    ) async throws -> Bench {
      var configuration = MAVLinkDevice.Configuration()
      var faults = Faults()
      change(&configuration, &faults)
      var simulated = MAVLinkSimulator.Configuration(MAVLinkDevice(configuration), seed: 1)
      simulated.faults = faults
      simulated.isAnnounced = false
      let simulator = MAVLinkSimulator(simulated)
      let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
      do {
        return Bench(simulator: simulator, autopilot: try await MAVLinkAutopilot.open(session))
      } catch {
        await simulator.stop()
        throw error
      }
    }

    func close() async {
      await autopilot.close()
      await simulator.stop()
    }
  }

  private func with(
    _ change: (inout MAVLinkDevice.Configuration, inout Faults) -> Void = { _, _ in },
    _ body: (Bench) async throws -> Void
  ) async throws {
    let bench = try await Bench.open(change)
    do {
      try await body(bench)
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  @Test(arguments: MAVLinkVersion.allCases) func anAutopilotsReadingsAreAllRead(version: MAVLinkVersion) async throws {
    try await with { configuration, _ in
      configuration.version = version
    } _: { bench in
      let reading = try await bench.autopilot.battery()
      #expect(reading.percent == 87 && reading.level == .high && reading.millivolts == 16_332)
      #expect(reading.milliamperes == -12_340 && reading.charge == .discharging)
      #expect(reading.cellMillivolts == [4_083, 4_083, 4_083, 4_083])
      #expect(reading.temperatures == [BatteryReading.Temperature(28_150)])
      // Version 1 has no extensions.
      #expect(reading.faults == (version == .two ? [] : nil))
      #expect((reading.timeToEmpty != nil) == (version == .two))
      #expect(try await bench.autopilot.status() == AccessoryStatus(state: .idle, reportsFaults: true))
      let identity = try await bench.autopilot.identify()
      #expect(identity.manufacturer == "ArduPilot" && identity.model == "quadrotor")
      #expect(identity.firmwareRevision == "4.5.7" && identity.hardwareRevision == "board 9")
      let values = try await bench.autopilot.values()
      #expect(values.first { $0.name == "armed" }?.content == .flag(false))
      #expect(values.first { $0.name == "load" }?.content == .number(25.3))
      #expect(values.first { $0.name == "battery_consumed" }?.number == 650)
      #expect(bench.autopilot.link.exchange.autopilot?.version == version)
    }
  }

  /// One that pushes is sent nothing for its battery and its status.
  @Test func nothingIsSentToOneThatPushes() async throws {
    try await with { bench in
      _ = try await bench.autopilot.battery()
      _ = try await bench.autopilot.status()
      var news = bench.autopilot.news().makeAsyncIterator()
      while case .some(let next) = try await news.next() { if case .battery = next { break } }
      #expect(bench.autopilot.link.statistics.link.retries == 0 && !bench.autopilot.link.exchange.isKeptAlive)
      #expect(await bench.simulator.device.heard.isEmpty)
    }
  }

  /// What it doesn't push it is asked for: once, or again and again if it knows only that; or it has only its own status.
  @Test(
    arguments: [[.quiet], [.quiet, .old], [.quiet, .plain], [.shy, .quiet], [.signed], [.crowded], [.mixed]]
      as [Set<MAVLinkDevice.Quirk>])
  func anUnusualAutopilotIsReadAllTheSame(quirks: Set<MAVLinkDevice.Quirk>) async throws {
    try await with { configuration, _ in
      configuration.quirks = quirks
    } _: { bench in
      let reading = try await bench.autopilot.battery()
      #expect(reading.percent == 87 && reading.milliamperes == -12_340)
      #expect((reading.cellMillivolts == []) == quirks.contains(.plain))
      #expect(bench.autopilot.link.exchange.isKeptAlive == quirks.contains(.shy))
      #expect(bench.autopilot.link.exchange.autopilot?.system == 1)
      let identity = try await bench.autopilot.identify()
      #expect(identity.firmwareRevision == (quirks.contains(.old) ? "" : "4.5.7"))
      #expect(bench.autopilot.link.statistics.frames.payloadErrors == 0)
    }
  }

  /// Noise, lost and damaged frames, and frames in pieces: sooner or later all is told, and nothing else.
  @Test(arguments: MAVLinkVersion.allCases) func aBadLineOnlyDelaysTheReadings(version: MAVLinkVersion) async throws {
    try await with { configuration, faults in
      configuration.version = version
      (configuration.garbage, configuration.split, configuration.period) = (0.5, 0.2, .milliseconds(50))
      (faults.drop, faults.corrupt) = (0.1, 0.1)
    } _: { bench in
      var readings = 0
      var news = bench.autopilot.news().makeAsyncIterator()
      while readings < 20, let next = try await news.next() {
        guard case .battery(let reading) = next else { continue }
        readings += 1
        #expect(reading.percent == 87 && reading.milliamperes == -12_340)
      }
      #expect(bench.autopilot.link.statistics.frames.skippedBytes > 0)
      #expect(try await bench.autopilot.battery().percent == 87)
    }
  }

  @Test func furtherBatteriesAreReadAsValues() async throws {
    try await with { configuration, _ in
      (configuration.batteries, configuration.cells) = (3, 0)
    } _: { bench in
      var news = bench.autopilot.news().makeAsyncIterator()
      var others: Set<String> = []
      while others.count < 2, let next = try await news.next() {
        if case .values(let values) = next, let name = values.first?.name, name.hasPrefix("battery_") {
          others.insert(name)
        }
      }
      #expect(others == ["battery_1_percent", "battery_2_percent"])
      let reading = try await bench.autopilot.battery()
      #expect(reading.cellMillivolts.isEmpty && reading.millivolts == 16_332 && !reading.derived.contains(.voltage))
    }
  }

  /// It is told nothing but to send messages, and does nothing else.
  @Test func commandsOfOthersAreRefused() {
    var device = MAVLinkDevice()
    let arm = MAVLinkMessage.command(MAVLinkCommand(400, [1], system: 1, component: 1))
    let effects = device.take(arm.frame(.two, sequence: 0, system: 1, component: 191))
    guard case .report(.refused(400))? = effects.first, case .send(let bytes)? = effects.last else {
      Issue.record("\(effects)")
      return
    }
    var codec = MAVLinkCodec()
    var batch = FrameBatch<MAVLinkHeader>()
    codec.decode(bytes.span.bytes, into: &batch)
    let answer = batch.withPayload(at: 0) { MAVLinkMessage(batch.header(at: 0).message, payload: $0) }
    #expect(
      answer == .acknowledgement(MAVLinkAcknowledgement(400, .unsupported, system: 1, component: 191)))
    #expect(!device.configuration.heartbeat.mode.contains(.armed))
    // Somebody else's.
    let other = MAVLinkMessage.command(MAVLinkCommand(512, [0], system: 9, component: 1))
    #expect(device.take(other.frame(.two, sequence: 1, system: 1, component: 191)).isEmpty)
  }

  /// When it says nothing any more, that is told, and not what it said before.
  @Test func aSilentAutopilotTimesOut() async throws {
    let error = await #expect(throws: AccessoryError.self) {
      try await with { configuration, _ in
        configuration.stallAfter = .zero
      } _: { _ in
      }
    }
    #expect(error?.kind == .timedOut)
  }

  @Test func anUnpluggedAutopilotIsDisconnected() async throws {
    try await with { bench in
      var news = bench.autopilot.news().makeAsyncIterator()
      await bench.simulator.unplug()
      let error = await #expect(throws: AccessoryError.self) { while try await news.next() != nil {} }
      #expect(error?.kind == .disconnected)
      let later = await #expect(throws: AccessoryError.self) { try await bench.autopilot.identify() }
      #expect(later?.kind == .disconnected)
    }
  }
}
