// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator

/// A pretended brick from end to end: the real driver and the real link at the other end of a terminal or a socket.
@Suite(.timeLimit(.minutes(2))) struct EV3SimulatorTests {
  @Test(arguments: EV3Bench.Way.allCases) func inTheTermsOfAll(way: EV3Bench.Way) async throws {
    let bench = try await EV3Bench.open(way) {
      $0.device.percent = 57
      $0.device.warnings = [.batteryLow, .busy]
    }
    let accessory: any Accessory = bench.brick
    let battery = try await accessory.battery()
    #expect(battery == BatteryReading(percent: 57, millivolts: 6_941, milliamperes: -180))
    #expect(try await accessory.status() == AccessoryStatus(state: .busy))
    let identity = try await accessory.identify()
    #expect(identity.name == "EV3")
    #expect(identity.firmwareRevision == "V1.09H")
    #expect(identity.hardwareRevision == "V0.60")
    await bench.close()
  }

  @Test func throughTheRegistry() async throws {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    let simulator = EV3Simulator(configuration)
    let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
    let driver = try #require(DriverLibrary.builtIn.driver(named: "ev3"))
    let accessory = try await driver.open(session, profile: .ev3)
    #expect(try await accessory.battery().percent == 100)
    let news = accessory.news()
    await simulator.stop()
    let error = await #expect(throws: AccessoryError.self) { for try await _ in news {} }
    #expect(error?.kind == .disconnected)
    await accessory.close()
  }
}
