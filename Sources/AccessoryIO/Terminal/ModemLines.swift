// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// The control lines of a serial port.
public struct ModemLines: OptionSet, Sendable, Hashable {
  /// The kernel's bits (TIOCM_…).
  public let rawValue: CInt
  /// A set of these bits.
  public init(rawValue: CInt) { self.rawValue = rawValue }

  /// Data Terminal Ready, an output.
  public static let dtr = ModemLines(rawValue: TIOCM_DTR)
  /// Request To Send, an output.
  public static let rts = ModemLines(rawValue: TIOCM_RTS)
  /// Clear To Send, an input.
  public static let cts = ModemLines(rawValue: TIOCM_CTS)
  /// Data Set Ready, an input.
  public static let dsr = ModemLines(rawValue: TIOCM_DSR)
  /// Carrier Detect, an input.
  public static let cd = ModemLines(rawValue: TIOCM_CAR)
  /// Ring Indicator, an input.
  public static let ri = ModemLines(rawValue: TIOCM_RNG)

  /// The lines with their usual names, outputs first.
  public static let names: [(line: ModemLines, name: String)] = [
    (.dtr, "DTR"), (.rts, "RTS"), (.cts, "CTS"), (.dsr, "DSR"), (.cd, "CD"), (.ri, "RI"),
  ]
}

extension FileDescriptor {
  func modemLines() throws(Errno) -> ModemLines {
    var lines: CInt = 0
    _ = try SystemCall.run(.ioctl, on: rawValue) { shim_tiocmget(rawValue, &lines) }
    return ModemLines(rawValue: lines)
  }

  func set(_ lines: ModemLines, _ isOn: Bool) throws(Errno) {
    _ = try SystemCall.run(.ioctl, on: rawValue) {
      isOn ? shim_tiocmbis(rawValue, lines.rawValue) : shim_tiocmbic(rawValue, lines.rawValue)
    }
  }

  func setBreak(_ isOn: Bool) throws(Errno) {
    _ = try SystemCall.run(.ioctl, on: rawValue) { isOn ? shim_tiocsbrk(rawValue) : shim_tioccbrk(rawValue) }
  }
}
