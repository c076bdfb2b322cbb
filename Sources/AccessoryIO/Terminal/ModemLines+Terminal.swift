// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import SystemPackage

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

  /// Sets several lines by one call, so that no state between them shows where the driver makes one message of it.
  func set(raising raised: ModemLines, lowering lowered: ModemLines) throws(Errno) {
    if lowered.isEmpty { return try set(raised, true) }
    if raised.isEmpty { return try set(lowered, false) }
    let lines = try modemLines().subtracting(lowered).union(raised)
    _ = try SystemCall.run(.ioctl, on: rawValue) { shim_tiocmset(rawValue, lines.rawValue) }
  }

  func setBreak(_ isOn: Bool) throws(Errno) {
    _ = try SystemCall.run(.ioctl, on: rawValue) { isOn ? shim_tiocsbrk(rawValue) : shim_tioccbrk(rawValue) }
  }
}
