// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// A serial line for people.
enum LineView {
  static func facts(_ facts: TerminalControl.Facts) -> [(String, String)] {
    let parity = facts.parity == .none ? "no parity" : "\(facts.parity.rawValue) parity"
    let stopBits = "\(facts.stopBits) stop bit" + (facts.stopBits == 1 ? "" : "s")
    var rows = [("Line", "\(facts.baudRate) baud, \(facts.dataBits) data bits, \(parity), \(stopBits)")]
    rows.append(("Flow control", facts.flowControl.rawValue))
    if let lines = facts.modemLines {
      let states = ModemLines.names.map { "\($0.name) \(lines.contains($0.line) ? "on" : "off")" }
      rows.append(("Modem lines", states.joined(separator: ", ")))
    } else {
      rows.append(("Modem lines", "none (not a serial port)"))
    }
    rows.append(("On close", facts.lowersLinesOnClose ? "DTR and RTS are lowered" : "DTR and RTS stay"))
    let latency = facts.isLowLatency.map { $0 ? "low" : "normal" } ?? "the driver doesn't say"
    rows.append(("Latency", latency + (facts.latencyTimer.map { ", timer \($0) ms" } ?? "")))
    if let rs485 = facts.rs485 {
      rows.append(
        (
          "RS-485",
          "RTS \(rs485.rtsOnSend ? "high" : "low") while sending, "
            + "\(rs485.delayBeforeSend) ms before, \(rs485.delayAfterSend) ms after"
        ))
    }
    return rows
  }
}
