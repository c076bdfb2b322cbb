// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// An action of a console's user on the serial line itself, besides sending bytes.
package enum LineAction: Sendable, Hashable {
  case sendBreak
  /// Raises an output that is lowered, and lowers one that is raised.
  case toggle(ModemLines)
  case setBaud(UInt32)
  /// Shows the settings and the raised modem lines.
  case show

  /// Whether the action changes the line, which the accessory may notice.
  package var isChange: Bool { self != .show }

  /// Carries out the action, and returns a text about its result. Throws the errors of the line.
  package func perform(
    on line: any LineControl, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> String {
    switch self {
    case .sendBreak:
      try await line.sendBreak(clock: clock)
      return "a break of 250 ms was sent"
    case .toggle(let output):
      let isOn = try await line.modemLines().contains(output)
      try await line.set(output, !isOn)
      return Self.text(try await line.modemLines())
    case .setBaud(let rate): return Self.text(try await line.change(LineChanges(baudRate: rate)))
    case .show:
      let status = try await line.status()
      return Self.text(status) + "; " + (status.modemLines.map(Self.text) ?? "no modem lines")
    }
  }

  /// For example "9600 baud, 8 data bits, no parity, 1 stop bit".
  private static func text(_ status: LineStatus) -> String {
    let parity = status.parity == .none ? "no parity" : "\(status.parity.rawValue) parity"
    let stopBits = status.stopBits == 1 ? "1 stop bit" : "\(status.stopBits) stop bits"
    let flow = status.flowControl == .none ? "" : ", \(status.flowControl.rawValue) flow control"
    return "\(status.baudRate) baud, \(status.dataBits) data bits, \(parity), \(stopBits)\(flow)"
  }

  /// For example "DTR on, RTS off, CTS off, DSR off, CD off, RI off".
  private static func text(_ lines: ModemLines) -> String {
    ModemLines.names.map { "\($0.name) \(lines.contains($0.line) ? "on" : "off")" }.joined(separator: ", ")
  }
}
