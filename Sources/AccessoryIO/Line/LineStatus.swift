// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The parity bit after the data bits of a character.
public enum LineParity: String, Sendable, Hashable, CaseIterable {
  /// No parity bit.
  case none
  /// Makes the number of ones odd.
  case odd
  /// Makes the number of ones even.
  case even
  /// Always one.
  case mark
  /// Always zero.
  case space
}

/// The kind of flow control.
public enum LineFlowControl: String, Sendable, Hashable, CaseIterable {
  /// No flow control.
  case none
  /// The RTS and CTS lines.
  case hardware
  /// The bytes XON (11) and XOFF (13), which then can't be data.
  case software
}

/// The settings and modem lines of a serial line, as read back from it.
public struct LineStatus: Sendable, Hashable {
  /// Bits per second that the hardware really uses.
  public var baudRate: UInt32
  /// Data bits of a character.
  public var dataBits: Int
  /// The parity bit.
  public var parity: LineParity
  /// Stop bits of a character, 1 or 2. With five data bits, most hardware sends 1½ instead of 2.
  public var stopBits: Int
  /// The kind of flow control.
  public var flowControl: LineFlowControl
  /// The modem lines that are raised; nil when the line has none or they aren't known.
  public var modemLines: ModemLines?
  /// Whether closing the line lowers DTR and RTS; nil when it isn't known.
  public var lowersLinesOnClose: Bool?
  /// Whether the driver delivers received bytes at once (low latency); nil when it isn't known.
  public var isLowLatency: Bool?
  /// How long an adapter's chip (FTDI) waits for more bytes before it delivers, in whole milliseconds; nil when it has
  /// no such timer.
  public var latencyTimer: Duration?
  /// RS-485 direction control; nil when it is off or not supported.
  public var rs485: TerminalConfiguration.RS485?

  /// A status with these settings, by default 8N1 without flow control. All other properties are nil.
  public init(
    baudRate: UInt32, dataBits: Int = 8, parity: LineParity = .none, stopBits: Int = 1,
    flowControl: LineFlowControl = .none, modemLines: ModemLines? = nil
  ) {
    self.baudRate = baudRate
    self.dataBits = dataBits
    self.parity = parity
    self.stopBits = stopBits
    self.flowControl = flowControl
    self.modemLines = modemLines
  }

  /// How long a byte takes on the line with these settings.
  public var timing: LineTiming {
    .serial(baudRate: baudRate, bits: 1 + dataBits + (parity == .none ? 0 : 1) + stopBits)
  }

  /// Takes the settings that `changes` contains.
  package mutating func apply(_ changes: LineChanges) {
    baudRate = changes.baudRate ?? baudRate
    dataBits = changes.dataBits ?? dataBits
    parity = changes.parity ?? parity
    stopBits = changes.stopBits ?? stopBits
    flowControl = changes.flowControl ?? flowControl
  }
}

extension LineStatus: CustomStringConvertible {
  /// A text for people: "115200 baud, 8N1", followed by flow control, RS-485 and the raised modem lines where there are
  /// any.
  public var description: String {
    let letter = parity == .none ? "N" : parity.rawValue.prefix(1).uppercased()
    var parts = ["\(baudRate) baud", "\(dataBits)\(letter)\(stopBits)"]
    if flowControl != .none { parts.append("\(flowControl.rawValue) flow control") }
    if rs485 != nil { parts.append("RS-485") }
    if let modemLines, !modemLines.isEmpty { parts.append("\(modemLines)") }
    return parts.joined(separator: ", ")
  }
}
