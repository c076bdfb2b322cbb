// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire formats of readings: the fields of the interface and of the command's JSON documents, and their conversion
// to and from the readings of `AccessoryCore`. The interface leaves unknown fields out; the documents write them as
// null, see `WithNulls`.

extension Bridge {
  package struct Status: ReadingShape {
    package enum CodingKeys: String, CodingKey, CaseIterable {
      case state, fault_code, progress_percent, reports_faults
    }

    package var state: String?
    package var fault_code: UInt16?
    package var progress_percent: Int?
    /// Nil from services and gateways of earlier versions.
    package var reports_faults: Bool?

    package init(
      state: String?, fault_code: UInt16? = nil, progress_percent: Int? = nil, reports_faults: Bool? = nil
    ) {
      self.state = state
      self.fault_code = fault_code
      self.progress_percent = progress_percent
      self.reports_faults = reports_faults
    }

    /// Converts a status to the wire format.
    package init(_ status: AccessoryStatus) {
      self.init(
        state: status.state?.word, fault_code: status.faultCode, progress_percent: status.progress,
        reports_faults: status.reportsFaults)
    }

    /// Converts the wire format to a status. An unknown word becomes nil. Earlier versions wrote `not_initialized` for
    /// every unknown state, and not whether faults are reported.
    package var reading: AccessoryStatus {
      let known = state.flatMap(AccessoryState.init(word:))
      return AccessoryStatus(
        state: reports_faults == nil && known == .notInitialized ? nil : known, faultCode: fault_code,
        progress: progress_percent, reportsFaults: reports_faults ?? (known != nil && known != .notInitialized))
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

    /// Converts an identity to the wire format.
    package init(_ identity: AccessoryIdentity) {
      self.init(
        manufacturer: identity.manufacturer, name: identity.name, model: identity.model, serial: identity.serialNumber,
        firmware: identity.firmwareRevision, hardware: identity.hardwareRevision)
    }

    /// Converts the wire format to an identity.
    package var reading: AccessoryIdentity {
      AccessoryIdentity(
        manufacturer: manufacturer, name: name, model: model, serialNumber: serial, firmwareRevision: firmware,
        hardwareRevision: hardware)
    }
  }
}
