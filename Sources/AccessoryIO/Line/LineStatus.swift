// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A parity bit behind the data bits of a character.
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

/// Who tells whom to pause.
public enum LineFlowControl: String, Sendable, Hashable, CaseIterable {
  /// Nobody.
  case none
  /// The RTS and CTS lines.
  case hardware
  /// The bytes XON (11) and XOFF (13), which then can't be data.
  case software
}

/// A line as it is, read back from it.
public struct LineStatus: Sendable, Hashable {
  /// Bits a second that the hardware really does.
  public var baudRate: UInt32
  /// Data bits of a character.
  public var dataBits: Int
  /// The parity bit.
  public var parity: LineParity
  /// Stop bits of a character, 1 or 2. With five data bits most hardware makes 1½ of 2.
  public var stopBits: Int
  /// Who tells whom to pause.
  public var flowControl: LineFlowControl
  /// The lines that are raised; nil where there are none, or it isn't known.
  public var modemLines: ModemLines?
  /// Whether the last close lowers DTR and RTS; nil where the line doesn't say.
  public var lowersLinesOnClose: Bool?
  /// Whether the driver delivers at once; nil when it doesn't say.
  public var isLowLatency: Bool?
  /// Milliseconds that an adapter's chip waits for more bytes (FTDI); nil when there is no such timer.
  public var latencyTimer: Int?
  /// RS-485 direction control; nil when it is off or not there.
  public var rs485: TerminalConfiguration.RS485?

  /// A line with these settings, of which nothing else is known: 8N1 without flow control, unless said otherwise.
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

  /// How long a byte takes with these settings.
  public var timing: LineTiming {
    .serial(baudRate: baudRate, bits: 1 + dataBits + (parity == .none ? 0 : 1) + stopBits)
  }
}
