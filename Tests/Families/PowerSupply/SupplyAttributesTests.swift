// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import TestSupport
import Testing

@testable import FamilyPowerSupply

/// What the files of a power supply mean, without a kernel that has one.
@Suite struct SupplyAttributesTests {
  /// A laptop's battery that tells energies, as ACPI's do.
  private let laptop = [
    "type": "Battery", "present": "1", "status": "Discharging", "capacity": "63", "capacity_level": "Normal",
    "voltage_now": "11400000", "power_now": "5700000", "energy_now": "28500000", "energy_full": "45600000",
    "energy_full_design": "57000000", "cycle_count": "214", "technology": "Li-ion", "voltage_min_design": "11100000",
  ]

  @Test func energiesAreReadAsChargesAndTheirOriginIsSaid() {
    let battery = SupplyAttributes(laptop).battery
    #expect(battery.percent == 63)
    #expect(battery.level == .normal)
    #expect(battery.charge == .discharging)
    #expect(battery.millivolts == 11_400)
    #expect(battery.milliamperes == -500)
    #expect(battery.milliwatts == -5_700)
    #expect(battery.remainingMilliampereHours == 2_500)
    #expect(battery.fullMilliampereHours == 4_000)
    #expect(battery.healthPercent == 80)
    #expect(battery.cycles == 214)
    #expect(battery.derived == [.current, .remainingCapacity, .fullCapacity, .health])
    #expect(battery.faults == nil)
  }

  @Test func chargesAndCurrentsAreTakenAsTheyAre() {
    let battery = SupplyAttributes([
      "type": "Battery", "status": "Charging", "charge_now": "1500000", "charge_full": "3000000",
      "charge_full_design": "2900000", "current_now": "-700000", "temp": "305", "health": "Good",
      "time_to_full_avg": "5400", "cycle_count": "0",
    ]).battery
    #expect(battery.percent == 50)
    #expect(battery.milliamperes == 700)
    #expect(battery.milliwatts == nil)
    #expect(battery.temperatures == [.init(30_500)])
    #expect(battery.timeToFull == .seconds(5_400))
    #expect(battery.healthPercent == 100)
    #expect(battery.derived.contains(.percent))
    #expect((battery.faults, battery.warnings) == ([], []))
    // Many drivers write 0 where they don't know it.
    #expect(battery.cycles == nil)
  }

  @Test func aMouseMayTellOnlyALevel() {
    let battery = SupplyAttributes(["type": "Battery", "capacity_level": "Low", "status": "Discharging"]).battery
    #expect(battery.percent == nil)
    #expect(battery.level == .low)
    #expect(battery.derived.isEmpty)
  }

  @Test(
    arguments: [
      ("Dead", ["dead"], []), ("Over voltage", ["over-voltage"], []), ("Warm", [], ["warm"]), ("Good", [], []),
    ] as [(String, [String], [String])])
  func healthIsNamed(_ health: String, _ faults: [String], _ warnings: [String]) {
    let battery = SupplyAttributes(["type": "Battery", "health": health]).battery
    #expect(battery.faults == faults)
    #expect(battery.warnings == warnings)
  }

  @Test func aMissingBatteryIsAFault() {
    #expect(SupplyAttributes(["type": "Battery", "present": "0"]).battery.faults == ["no-battery"])
  }

  @Test func whatIsNotToldIsUnknown() {
    #expect(SupplyAttributes([:]).battery == BatteryReading())
    #expect(SupplyAttributes([:]).values.isEmpty)
    #expect(!SupplyAttributes([:]).hasBattery)
  }

  /// The files are the kernel's, but a driver may write into them what a device says.
  @Test(arguments: [
    "", "-", "1e9", "99999999999999999999", "9223372036854775807", "-9223372036854775808", "-1", "\u{0}",
  ])
  func noTextTraps(_ text: String) {
    let all = SupplyAttributes.ofBatteries + SupplyAttributes.ofValues
    var texts = Dictionary(all.map { ($0, text) }) { first, _ in first }
    for type in ["Battery", "Mains", text] {
      texts["type"] = type
      let attributes = SupplyAttributes(texts)
      let battery = attributes.battery
      #expect(battery.percent == nil)
      #expect(battery.millivolts == nil)
      _ = attributes.values
    }
  }

  @Test func theValuesHaveUnits() {
    let values = Dictionary(uniqueKeysWithValues: SupplyAttributes(laptop).values.map { ($0.name, $0) })
    #expect(values["energy_full"]?.number == 45.6)
    #expect(values["energy_full"]?.unit == .wattHour)
    #expect(values["power"]?.number == 5.7)
    #expect(values["technology"]?.content == .text("Li-ion"))
    #expect(values["voltage"] == nil)
    let charger = SupplyAttributes(["type": "USB", "online": "1", "voltage_now": "20000000", "usb_type": "C [PD]"])
    #expect(charger.values.map(\.name) == ["online", "voltage", "usb_type"])
  }

  @Test func theDriverAndItsProfileBelongTogether() {
    #expect(Driver.powerSupply.profiles.map(\.driver) == ["power-supply"])
    #expect(Device(.powerSupply("BAT0"), source: .named).driver == Driver.powerSupply.name)
  }
}
