// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// What a service tells, in the terms of those who open a device themselves: so both are shown by the same code.

extension BatteryReading {
  init(_ facts: Bridge.Battery) {
    self.init(
      percent: facts.percent, level: Level(rawValue: facts.level) ?? .unknown, millivolts: facts.voltage_mv,
      milliamperes: facts.current_ma, charge: Charge(rawValue: facts.charge) ?? .unknown)
    levelOrigin = Origin(rawValue: facts.level_origin) ?? .reported
  }
}

extension AccessoryStatus {
  init(_ facts: Bridge.Status) {
    let states: [AccessoryState] = [.idle, .busy, .paused, .fault]
    self.init(
      state: states.first { AccessoryStatus(state: $0).stateName == facts.state } ?? .notInitialized,
      faultCode: facts.fault_code, progress: facts.progress_percent)
  }
}

extension AccessoryIdentity {
  init(_ facts: Bridge.Identity) {
    self.init(
      AF1Identity(
        manufacturer: facts.manufacturer, name: facts.name, model: facts.model, serialNumber: facts.serial,
        firmwareVersion: facts.firmware, hardwareVersion: facts.hardware))
  }
}
