// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// What `print` shows of readings.
@Suite struct DescriptionTests {
  @Test func aBatteryIsDescribedInWords() {
    var reading = BatteryReading()
    #expect("\(reading)" == "level unknown")
    reading.percent = 57
    reading.level = .normal
    reading.millivolts = 3_712
    reading.milliamperes = -250
    reading.charge = .discharging
    #expect("\(reading)" == "57 %, normal, 3.712 V, -0.25 A, discharging")
    reading.charge = .notCharging
    reading.millivolts = nil
    reading.milliamperes = nil
    reading.faults = ["cell_over_voltage", "a\u{1B}[2J"]
    reading.warnings = []
    #expect("\(reading)" == "57 %, normal, not charging, faults: cell_over_voltage a\\u{1b}[2J")
    #expect("\(BatteryReading(level: .full, charge: .full))" == "full", "not twice")
  }

  @Test func aStatusIsDescribedInWords() {
    #expect("\(AccessoryStatus(state: .idle))" == "idle")
    #expect("\(AccessoryStatus(state: .busy, progress: 40))" == "busy, 40 %")
    #expect("\(AccessoryStatus(state: .fault, faultCode: 17))" == "fault 17")
    #expect("\(AccessoryStatus())" == "unknown")
    #expect("\(AccessoryStatus(state: .notInitialized, faultCode: 3))" == "not initialized, fault 3")
  }

  @Test func anIdentityIsDescribedInWords() {
    #expect("\(AccessoryIdentity())" == "unknown")
    #expect("\(AccessoryIdentity(serialNumber: "7"))" == "serial 7")
    let whole = AccessoryIdentity(
      manufacturer: "Acme", name: "Thermo\nmeter", model: "T-1", serialNumber: "0042", firmwareRevision: "1.2",
      hardwareRevision: "A")
    #expect("\(whole)" == "Acme Thermo\\u{a}meter, model T-1, serial 0042, firmware 1.2, hardware A")
  }

  @Test func aValueIsDescribedInWords() {
    let distance = AccessoryValue("port_4", quantity: .distance, unit: "cm", number: 50)
    let color = AccessoryValue("port_3", content: .choice(word: "red", number: 5))
    #expect("\(distance)" == "port_4: 50 cm")
    #expect("\(color)" == "port_3: red")
    #expect("\(AccessoryValue("touched", content: .flag(true)))" == "touched: yes")
    #expect("\(AccessoryValue("text", content: .text("\u{7}")))" == "text: \\u{7}")
    #expect("\(AccessoryValue("lost", quantity: .voltage, unit: .volt, content: nil))" == "lost: -")
    #expect("\(ValuesReading([distance, color], at: MonotonicTime(nanoseconds: 0)))" == "port_4: 50 cm, port_3: red")
  }
}
