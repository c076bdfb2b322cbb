// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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

  /// The lines that this end drives.
  public static let outputs: ModemLines = [.dtr, .rts]

  /// Throws `misconfigured` if one of the lines is an input or is in both sets; `label` is the device's name in the
  /// error message.
  public static func check(raising raised: ModemLines, lowering lowered: ModemLines, _ label: String)
    throws(AccessoryError)
  {
    let inputs = raised.union(lowered).subtracting(outputs)
    guard inputs.isEmpty else {
      let names = names.filter { inputs.contains($0.line) }.map(\.name).joined(separator: " and ")
      throw AccessoryError(
        .misconfigured, "\(names.isEmpty ? "that" : names) can't be set on \(label): only DTR and RTS are outputs")
    }
    guard raised.isDisjoint(with: lowered) else {
      throw AccessoryError(
        .misconfigured, "a modem line of \(label) can't be raised and lowered in one call: choose one")
    }
  }
}

extension ModemLines: CustomStringConvertible {
  /// The raised lines as a text for people: "DTR RTS", or "none".
  public var description: String {
    isEmpty ? "none" : Self.names.filter { contains($0.line) }.map(\.name).joined(separator: " ")
  }
}
