// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// What people look for first at an accessory.
@Suite struct HeadlineTests {
  private func labels(
    _ battery: BatteryReading? = nil, status: AccessoryStatus? = nil, _ values: AccessoryValue...
  ) -> [String] {
    Headline(status: status, battery: battery, values: values).parts.map(\.label)
  }

  private var pack: BatteryReading {
    var pack = BatteryReading(percent: 57, millivolts: 52_800, milliamperes: -2_000, charge: .discharging)
    (pack.timeToEmpty, pack.timeToFull, pack.cellMillivolts) = (.seconds(60), .seconds(30), [3_300, nil, 3_345])
    return pack
  }

  @Test func aPackHasItsChargePowerTimeAndSpread() {
    #expect(labels(pack) == ["Charge", "Charging", "Power", "Time to empty", "Cell spread"])
    var charging = pack
    charging.charge = .charging
    #expect(labels(charging).contains("Time to full") && !labels(charging).contains("Time to empty"))
    #expect(
      Headline(battery: pack).parts.contains(.power(-105_600)) && Headline(battery: pack).parts.last == .spread(45))
  }

  /// What it reports counts, and not a product that is near it.
  @Test func aReportedPowerIsNotCalculated() {
    var reading = pack
    reading.milliwatts = -100_000
    #expect(Headline(battery: reading).parts.contains(.power(-100_000)))
    reading.milliwatts = nil
    reading.milliamperes = nil
    #expect(!labels(reading).contains("Power"))
    (reading.millivolts, reading.milliamperes) = (.max, .max)
    #expect(!labels(reading).contains("Power"), "it overflows nothing")
  }

  @Test func aUPSHasItsSupplyLoadAndTime() {
    let load = AccessoryValue("load", unit: .percent, role: "ups.load", number: 23)
    let supply = AccessoryValue("on_battery", role: "ups.on_battery", content: .flag(false))
    let mains = AccessoryValue("input_voltage", unit: .volt, role: "input.voltage", number: 230)
    #expect(labels(pack, load, mains, supply) == ["Supply", "Load", "Time to empty", "Charge", "Charging"])
    let unknown = AccessoryValue("on_battery", role: "ups.on_battery", content: nil)
    #expect(labels(nil, unknown, load) == ["Load"])
  }

  @Test func solarAndMetersHavePowerAndEnergy() {
    let energy = AccessoryValue(
      "generated_today", quantity: .energy, unit: .kilowattHour, number: 1, importance: .headline)
    let power = AccessoryValue("solar_power", quantity: .power, unit: .watt, number: 1, importance: .headline)
    #expect(labels(nil, energy, power) == ["Solar power", "Generated today"])
    // The panel's power, and not the battery's.
    #expect(labels(pack, power) == ["Solar power", "Charge", "Charging", "Time to empty", "Cell spread"])
  }

  @Test func aRobotHasItsState() {
    #expect(labels(BatteryReading(percent: 4), status: AccessoryStatus(state: .busy)) == ["State", "Charge"])
    #expect(labels(nil, status: AccessoryStatus(state: .notInitialized)).isEmpty)
  }

  /// A kind without a headline of its own has the first measurements, and no constants.
  @Test func anythingElseHasItsFirstMeasurements() {
    let values = ["limit", "a", "b", "c", "d"].map { AccessoryValue($0, unit: .celsius, number: 1) }
    #expect(Headline(values: values).parts.map(\.label) == ["A", "B", "C"])
    #expect(labels(BatteryReading(level: .low)) == ["Level"] && labels(BatteryReading(millivolts: 1)) == ["Voltage"])
    #expect(labels(BatteryReading()).isEmpty && labels().isEmpty)
  }
}
