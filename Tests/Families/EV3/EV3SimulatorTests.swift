// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// A pretended brick from end to end: the real driver and the real link at the other end of a terminal or a socket.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct EV3SimulatorTests {
  @Test(arguments: EV3Bench.Way.allCases) func aBrickIsReadAsAnyAccessory(way: EV3Bench.Way) async throws {
    let bench = try await EV3Bench.open(way) {
      $0.device.percent = 57
      $0.device.warnings = [.batteryLow, .busy]
    }
    let accessory: any Accessory = bench.brick
    let battery = try await accessory.battery()
    #expect(battery == BatteryReading(percent: 57, millivolts: 6_941, milliamperes: -180))
    #expect(try await accessory.status() == AccessoryStatus(state: .busy, reportsFaults: true))
    let identity = try await accessory.identify()
    #expect(identity.name == "EV3")
    #expect(identity.firmwareRevision == "V1.09H")
    #expect(identity.hardwareRevision == "V0.60")
    await bench.close()
  }

  /// What it measures, with units, of what is plugged in; what isn't there has no value.
  @Test(arguments: EV3Bench.Way.allCases) func valuesOfABrickHaveUnitsAndQuantities(way: EV3Bench.Way) async throws {
    let bench = try await EV3Bench.open(way) {
      $0.device.warnings = [.batteryLow]
      $0.device.sensors[.four]?.values = [.nan]
    }
    let values = try await bench.brick.values()
    func value(_ name: String) -> AccessoryValue? { values.first { $0.name == name } }
    #expect(Set(values.map(\.name)).count == values.count)
    #expect(
      value("internal_current")
        == AccessoryValue("internal_current", quantity: .current, unit: .ampere, number: 0.18, importance: .detail))
    #expect(value("motor_current")?.number == 0)
    #expect(value("memory_free") == AccessoryValue("memory_free", quantity: .dataSize, unit: .kibibyte, number: 8_192))
    #expect(
      value("sleep_time")
        == AccessoryValue("sleep_time", quantity: .duration, unit: .minute, number: 30, importance: .setting))
    #expect(
      value("firmware_version") == AccessoryValue("firmware_version", quantity: .identity, content: .text("V1.09H")))
    #expect(value("warning_battery_low")?.content == .flag(true) && value("warning_busy")?.content == .flag(false))
    #expect(
      value("port_1_device")
        == AccessoryValue("port_1_device", quantity: .identity, content: .choice(word: "touch", number: 16)))
    #expect(value("port_1") == AccessoryValue("port_1", number: 0))
    #expect(value("port_2") == nil && value("port_2_device") == nil)
    #expect(value("port_3") == AccessoryValue("port_3", quantity: .ratio, unit: .percent, number: 12))
    #expect(value("port_4") == AccessoryValue("port_4", quantity: .distance, unit: .centimetre, number: nil))
    #expect(value("port_a_device")?.content == .choice(word: "large motor", number: 7))
    await bench.close()
  }

  @Test(arguments: [
    ("D/s ", AccessoryValue.Quantity.rotation, MeasurementUnit.degreePerSecond), (" C", .temperature, .celsius),
  ])
  func theFirmwaresUnitsHaveTheirMeaning(symbol: String, quantity: AccessoryValue.Quantity, unit: MeasurementUnit) {
    let meaning = EV3Brick.meaning(of: symbol)
    #expect(meaning.quantity == quantity && meaning.unit == unit)
    #expect(EV3Brick.meaning(of: "  ").unit == nil && EV3Brick.meaning(of: "N").unit == "N")
  }

  @Test func theLibrarysDriverOpensABrick() async throws {
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
