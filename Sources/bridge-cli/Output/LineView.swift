// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator

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

  /// What a host asked of a simulated line: "line 115200 baud, 8 data bits, no parity, 1 stop bit; DTR on, RTS on".
  static func state(_ line: LineState) -> String {
    let parity = line.parity == .none ? "no parity" : "\(line.parity.rawValue) parity"
    let stopBits = line.stopBits == 1 ? "1 stop bit" : line.stopBits == 2 ? "2 stop bits" : "1.5 stop bits"
    let lines =
      "DTR \(line.dtr ? "on" : "off"), RTS \(line.rts ? "on" : "off")" + (line.isBreak ? ", break" : "")
      + (line.latencyTimer.map { ", latency timer \($0) ms" } ?? "")
    return "line \(line.baudRate) baud, \(line.dataBits) data bits, \(parity), \(stopBits); \(lines)"
  }
}
