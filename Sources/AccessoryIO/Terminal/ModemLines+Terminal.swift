// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import SystemPackage

extension FileDescriptor {
  func modemLines() throws(Errno) -> ModemLines { try SystemCall.ioctl(TerminalRequest.GetModemLines(), on: self) }

  func set(_ lines: ModemLines, _ isOn: Bool) throws(Errno) {
    try SystemCall.ioctl(TerminalRequest.SetModemLines(lines: lines, change: isOn ? .raise : .lower), on: self)
  }

  /// Sets several lines with one call. So no state in between shows on the lines, if the driver changes them with one
  /// message.
  func set(raising raised: ModemLines, lowering lowered: ModemLines) throws(Errno) {
    if lowered.isEmpty { return try set(raised, true) }
    if raised.isEmpty { return try set(lowered, false) }
    let lines = try modemLines().subtracting(lowered).union(raised)
    try SystemCall.ioctl(TerminalRequest.SetModemLines(lines: lines, change: .replace), on: self)
  }

  func setBreak(_ isOn: Bool) throws(Errno) {
    try SystemCall.ioctl(TerminalRequest.SetBreak(isOn: isOn), on: self)
  }
}
