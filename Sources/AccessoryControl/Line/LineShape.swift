// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension Bridge.Line {
  /// Converts a line's settings to the interface.
  package init(_ status: LineStatus) {
    // The interface can't express an unknown value, so it is reported as true.
    self.init(
      baud: status.baudRate, data_bits: status.dataBits, stop_bits: status.stopBits, parity: status.parity.rawValue,
      flow_control: status.flowControl.rawValue, lowers_lines_on_close: status.lowersLinesOnClose ?? true,
      modem_lines: status.modemLines?.words, low_latency: status.isLowLatency, rs485: status.rs485 != nil,
      latency_timer_ms: status.latencyTimer?.inMilliseconds)
    rs485_rts_on_send = status.rs485?.rtsOnSend
    rs485_rts_after_send = status.rs485?.rtsAfterSend
    rs485_delay_before_ms = (status.rs485?.delayBeforeSend.inMilliseconds).map { UInt32(clamping: $0) }
    rs485_delay_after_ms = (status.rs485?.delayAfterSend.inMilliseconds).map { UInt32(clamping: $0) }
    rs485_receives_while_sending = status.rs485?.receivesWhileSending
  }

  /// Converts the interface's settings to Swift; nil when this version doesn't know the parity or the flow control.
  package var status: LineStatus? {
    guard let parity = LineParity(rawValue: parity), let flowControl = LineFlowControl(rawValue: flow_control) else {
      return nil
    }
    var status = LineStatus(
      baudRate: baud, dataBits: data_bits, parity: parity, stopBits: stop_bits, flowControl: flowControl,
      modemLines: modem_lines.map { ModemLines(words: $0) })
    status.lowersLinesOnClose = lowers_lines_on_close
    status.isLowLatency = low_latency
    status.latencyTimer = latency_timer_ms.map { .milliseconds($0) }
    if rs485 == true {
      var direction = TerminalConfiguration.RS485()
      direction.rtsOnSend = rs485_rts_on_send ?? direction.rtsOnSend
      direction.rtsAfterSend = rs485_rts_after_send ?? !direction.rtsOnSend
      direction.delayBeforeSend = .milliseconds(rs485_delay_before_ms ?? 0)
      direction.delayAfterSend = .milliseconds(rs485_delay_after_ms ?? 0)
      direction.receivesWhileSending = rs485_receives_while_sending ?? false
      status.rs485 = direction
    }
    return status
  }
}

extension ModemLines {
  /// All modem lines by their lower-case names; true for raised ones.
  package var words: [String: Bool] {
    Dictionary(uniqueKeysWithValues: Self.names.map { ($0.name.lowercased(), contains($0.line)) })
  }

  /// The raised modem lines. Unknown names are skipped.
  package init(words: [String: Bool]) {
    self = Self.names.reduce(into: []) { lines, entry in
      if words[entry.name.lowercased()] == true { lines.insert(entry.line) }
    }
  }
}
