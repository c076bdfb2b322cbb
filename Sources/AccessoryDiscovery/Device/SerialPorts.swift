// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The serial ports that have hardware behind them.
public enum SerialPorts {
  /// The device nodes of USB, Bluetooth and other plugged-in ports, sorted. Built-in UARTs (ttyS0, …) are left out: the
  /// kernel has nodes for them whether or not they exist.
  public static func paths() -> [String] {
    Directory.names(in: "/dev")
      .filter { name in
        ["ttyUSB", "ttyACM", "rfcomm"].contains {
          name.hasPrefix($0) && name.dropFirst($0.count).allSatisfy(\.isNumber)
        }
      }
      .sorted()
      .map { "/dev/" + $0 }
  }
}
