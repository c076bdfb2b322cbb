// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

extension Bridge.Line {
  /// A line's settings in the interface's terms.
  package init(_ facts: LineStatus) {
    // The interface has no word for not knowing that: then it is said that they may be lowered.
    self.init(
      baud: facts.baudRate, data_bits: facts.dataBits, stop_bits: facts.stopBits, parity: facts.parity.rawValue,
      flow_control: facts.flowControl.rawValue, lowers_lines_on_close: facts.lowersLinesOnClose ?? true,
      modem_lines: facts.modemLines?.words, low_latency: facts.isLowLatency, rs485: facts.rs485 != nil,
      latency_timer_ms: facts.latencyTimer)
    rs485_rts_on_send = facts.rs485?.rtsOnSend
    rs485_rts_after_send = facts.rs485?.rtsAfterSend
    rs485_delay_before_ms = facts.rs485?.delayBeforeSend
    rs485_delay_after_ms = facts.rs485?.delayAfterSend
    rs485_receives_while_sending = facts.rs485?.receivesWhileSending
  }

  /// The same in Swift's terms; nil when parity or flow control are none that this version knows.
  package var facts: LineStatus? {
    guard let parity = LineParity(rawValue: parity), let flowControl = LineFlowControl(rawValue: flow_control) else {
      return nil
    }
    var facts = LineStatus(
      baudRate: baud, dataBits: data_bits, parity: parity, stopBits: stop_bits, flowControl: flowControl,
      modemLines: modem_lines.map { ModemLines(words: $0) })
    facts.lowersLinesOnClose = lowers_lines_on_close
    facts.isLowLatency = low_latency
    facts.latencyTimer = latency_timer_ms
    if rs485 == true {
      var direction = TerminalConfiguration.RS485()
      direction.rtsOnSend = rs485_rts_on_send ?? direction.rtsOnSend
      direction.rtsAfterSend = rs485_rts_after_send ?? !direction.rtsOnSend
      direction.delayBeforeSend = rs485_delay_before_ms ?? 0
      direction.delayAfterSend = rs485_delay_after_ms ?? 0
      direction.receivesWhileSending = rs485_receives_while_sending ?? false
      facts.rs485 = direction
    }
    return facts
  }
}

extension ModemLines {
  /// All lines by their names, in small letters, and whether they are raised.
  package var words: [String: Bool] {
    Dictionary(uniqueKeysWithValues: Self.names.map { ($0.name.lowercased(), contains($0.line)) })
  }

  /// Those that are raised; names that this version doesn't know are passed over.
  package init(words: [String: Bool]) {
    self = Self.names.reduce(into: []) { lines, entry in
      if words[entry.name.lowercased()] == true { lines.insert(entry.line) }
    }
  }
}
