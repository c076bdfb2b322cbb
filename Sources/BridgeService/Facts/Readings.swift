// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

extension Bridge.Battery {
  /// A reading in the interface's terms.
  package init(_ reading: BatteryReading) {
    self.init(
      level: reading.level.rawValue, level_origin: reading.levelOrigin.rawValue, charge: reading.charge.rawValue,
      percent: reading.percent, voltage_mv: reading.millivolts, current_ma: reading.milliamperes)
  }
}

extension Bridge.Status {
  /// A status in the interface's terms.
  package init(_ status: AccessoryStatus) {
    self.init(state: status.state.word, fault_code: status.faultCode, progress_percent: status.progress)
  }
}

extension AccessoryState {
  /// The state's name, in the field's usual form.
  package var word: String {
    switch self {
    case .idle: "idle"
    case .busy: "busy"
    case .paused: "paused"
    case .fault: "fault"
    case .notInitialized: "not_initialized"
    }
  }
}

extension Bridge.Identity {
  /// An identity in the interface's terms.
  package init(_ identity: AccessoryIdentity) {
    self.init(
      manufacturer: identity.manufacturer, name: identity.name, model: identity.model, serial: identity.serialNumber,
      firmware: identity.firmwareRevision, hardware: identity.hardwareRevision)
  }
}

extension Bridge.Line {
  /// A line's settings in the interface's terms.
  package init(_ facts: TerminalControl.Facts) {
    self.init(
      baud: facts.baudRate, data_bits: facts.dataBits, stop_bits: facts.stopBits, parity: facts.parity.rawValue,
      flow_control: facts.flowControl.rawValue, lowers_lines_on_close: facts.lowersLinesOnClose,
      modem_lines: facts.modemLines.map { lines in
        Dictionary(uniqueKeysWithValues: ModemLines.names.map { ($0.name.lowercased(), lines.contains($0.line)) })
      },
      low_latency: facts.isLowLatency, rs485: facts.rs485 != nil, latency_timer_ms: facts.latencyTimer)
    rs485_rts_on_send = facts.rs485?.rtsOnSend
    rs485_delay_before_ms = facts.rs485?.delayBeforeSend
    rs485_delay_after_ms = facts.rs485?.delayAfterSend
  }
}

extension Bridge.ProtocolDetails {
  /// What contact with an AF1 accessory has told.
  package init(_ exchange: AF1Exchange) {
    self.init(
      name: "AF1",
      boot_id: exchange.hello.map { Hexadecimal.string(withUnsafeBytes(of: $0.bootID.bigEndian) { Array($0) }) },
      largest_payload_bytes: exchange.largestPayload, window: Int(exchange.hello?.window ?? 1))
  }
}
