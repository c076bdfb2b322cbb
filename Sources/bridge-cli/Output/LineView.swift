// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessorySimulator

/// A serial line's settings for people.
enum LineView {
  static func facts(_ line: Bridge.Line) -> [(String, String)] {
    let parity = line.parity == "none" ? "no parity" : "\(SafeText.escape(line.parity)) parity"
    let stopBits = Amount.of(line.stop_bits, "stop bit")
    var rows = [("Line", "\(line.baud) baud, \(line.data_bits) data bits, \(parity), \(stopBits)")]
    rows.append(("Flow control", SafeText.escape(line.flow_control)))
    if let lines = line.modem_lines {
      let states = ModemLines.names.map { "\($0.name) \(lines[$0.name.lowercased()] == true ? "on" : "off")" }
      rows.append(("Modem lines", states.joined(separator: ", ")))
    } else {
      rows.append(("Modem lines", "none (not a serial port)"))
    }
    rows.append(("On close", line.lowers_lines_on_close ? "DTR and RTS are lowered" : "DTR and RTS stay"))
    let latency = line.low_latency.map { $0 ? "low" : "normal" } ?? "the driver doesn't say"
    rows.append(("Latency", latency + (line.latency_timer_ms.map { ", timer \($0) ms" } ?? "")))
    if line.rs485 == true {
      rows.append(
        (
          "RS-485",
          "RTS \(line.rs485_rts_on_send == true ? "high" : "low") while sending, "
            + "\(line.rs485_delay_before_ms ?? 0) ms before, \(line.rs485_delay_after_ms ?? 0) ms after"
        ))
    }
    return rows
  }

  /// The settings that a host made on a simulated line: "line 115200 baud, 8 data bits, no parity, 1 stop bit; DTR on,
  /// RTS on".
  static func state(_ line: HostLineSettings) -> String {
    let parity = line.parity == .none ? "no parity" : "\(line.parity.rawValue) parity"
    let stopBits = line.stopBits == 1 ? "1 stop bit" : line.stopBits == 2 ? "2 stop bits" : "1.5 stop bits"
    let lines =
      "DTR \(line.dtr ? "on" : "off"), RTS \(line.rts ? "on" : "off")" + (line.isBreak ? ", break" : "")
      + (line.latencyTimer.map { ", latency timer \($0.inMilliseconds) ms" } ?? "")
    return "line \(line.baudRate) baud, \(line.dataBits) data bits, \(parity), \(stopBits); \(lines)"
  }
}
