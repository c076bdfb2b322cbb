// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

extension Bridge.Line {
  /// A line's settings in the interface's terms.
  package init(_ facts: LineFacts) {
    // The interface has no word for not knowing that: then it is said that they may be lowered.
    self.init(
      baud: facts.baudRate, data_bits: facts.dataBits, stop_bits: facts.stopBits, parity: facts.parity.rawValue,
      flow_control: facts.flowControl.rawValue, lowers_lines_on_close: facts.lowersLinesOnClose ?? true,
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
  /// What making contact has told of an accessory's protocol.
  package init(_ details: ProtocolDetails) {
    self.init(
      name: details.name, boot_id: details.bootID.map { Hexadecimal.string($0) },
      largest_payload_bytes: details.largestPayload, window: details.window)
  }
}
