// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire shapes of readings, each written once: the fields that the interface and the command's JSON documents have, and
// the way between them and the readings of `AccessoryCore`. The interface leaves out what isn't known; the documents have
// null there, see `WithNulls`.

extension Bridge {
  package struct Battery: ReadingShape {
    package enum CodingKeys: String, CodingKey, CaseIterable {
      case level, level_origin, charge, percent, voltage_mv, current_ma
    }

    package var level, level_origin, charge: String
    package var percent: UInt8?
    package var voltage_mv, current_ma: Int?

    package init(
      level: String, level_origin: String, charge: String, percent: UInt8? = nil, voltage_mv: Int? = nil,
      current_ma: Int? = nil
    ) {
      self.level = level
      self.level_origin = level_origin
      self.charge = charge
      self.percent = percent
      self.voltage_mv = voltage_mv
      self.current_ma = current_ma
    }

    /// The shape of a reading.
    package init(_ reading: BatteryReading) {
      self.init(
        level: reading.level.rawValue, level_origin: reading.levelOrigin.rawValue, charge: reading.charge.rawValue,
        percent: reading.percent, voltage_mv: reading.millivolts, current_ma: reading.milliamperes)
    }

    /// The reading. A word that this version doesn't know is `unknown`.
    package var reading: BatteryReading {
      var reading = BatteryReading(
        percent: percent, level: .init(rawValue: level) ?? .unknown, millivolts: voltage_mv, milliamperes: current_ma,
        charge: .init(rawValue: charge) ?? .unknown)
      reading.levelOrigin = .init(rawValue: level_origin) ?? .reported
      return reading
    }
  }

  package struct Status: ReadingShape {
    package enum CodingKeys: String, CodingKey, CaseIterable {
      case state, fault_code, progress_percent
    }

    package var state: String
    package var fault_code: UInt16?
    package var progress_percent: UInt8?

    package init(state: String, fault_code: UInt16? = nil, progress_percent: UInt8? = nil) {
      self.state = state
      self.fault_code = fault_code
      self.progress_percent = progress_percent
    }

    /// The shape of a status.
    package init(_ status: AccessoryStatus) {
      self.init(state: status.state.word, fault_code: status.faultCode, progress_percent: status.progress)
    }

    /// The status. A word that this version doesn't know is `notInitialized`.
    package var reading: AccessoryStatus {
      AccessoryStatus(
        state: AccessoryState.allCases.first { $0.word == state } ?? .notInitialized, faultCode: fault_code,
        progress: progress_percent)
    }
  }

  package struct Identity: ReadingShape {
    package enum CodingKeys: String, CodingKey, CaseIterable {
      case manufacturer, name, model, serial, firmware, hardware
    }

    package var manufacturer, name, model, serial, firmware, hardware: String

    package init(
      manufacturer: String, name: String, model: String, serial: String, firmware: String, hardware: String
    ) {
      self.manufacturer = manufacturer
      self.name = name
      self.model = model
      self.serial = serial
      self.firmware = firmware
      self.hardware = hardware
    }

    /// The shape of an identity.
    package init(_ identity: AccessoryIdentity) {
      self.init(
        manufacturer: identity.manufacturer, name: identity.name, model: identity.model, serial: identity.serialNumber,
        firmware: identity.firmwareRevision, hardware: identity.hardwareRevision)
    }

    /// The identity.
    package var reading: AccessoryIdentity {
      AccessoryIdentity(
        manufacturer: manufacturer, name: name, model: model, serialNumber: serial, firmwareRevision: firmware,
        hardwareRevision: hardware)
    }
  }
}
