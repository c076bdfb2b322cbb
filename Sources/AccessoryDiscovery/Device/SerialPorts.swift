// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The plugged-in serial ports of this machine.
public enum SerialPorts {
  /// The device nodes of USB, Bluetooth and other plugged-in ports, sorted. Built-in UARTs (ttyS0, …) are left out,
  /// because the kernel has nodes for them whether or not the hardware exists.
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
