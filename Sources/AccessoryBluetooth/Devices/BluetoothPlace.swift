// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// How to reach BlueZ on this computer. Checks whether Bluetooth can be used, without libsystemd and without a message.
package struct BluetoothPlace: Sendable {
  /// The address of the bus; nil for the system bus.
  package var bus: String?
  private var socket: String
  private var adapterFolder: String
  private var installed: String

  /// The folder of the kernel's adapters.
  package static let adapterFolder = "/sys/class/bluetooth"

  /// This computer.
  package static var usual: BluetoothPlace {
    BluetoothPlace(
      socket: "/run/dbus/system_bus_socket", adapterFolder: adapterFolder,
      // The file from which the bus starts bluetoothd.
      installed: "/usr/share/dbus-1/system-services/org.bluez.service")
  }

  private init(bus: String? = nil, socket: String, adapterFolder: String, installed: String) {
    (self.bus, self.socket, self.adapterFolder, self.installed) = (bus, socket, adapterFolder, installed)
  }

  /// A place for tests: it has an adapter, and another bus.
  init(bus: String) { self.init(bus: bus, socket: "", adapterFolder: "", installed: "") }

  /// Whether the bus isn't this computer's own. Then its adapters aren't this kernel's.
  private var isElsewhere: Bool { bus != nil || getenv("DBUS_SYSTEM_BUS_ADDRESS") != nil }
  private var hasBus: Bool { isElsewhere || access(socket, F_OK) == 0 }

  /// Whether there is a bus and, as far as can be known without asking, an adapter.
  package var hasAdapter: Bool { isElsewhere || hasBus && !Self.adapters(in: adapterFolder).isEmpty }

  /// Whether an adapter is there, or would be used if it came.
  package var mayHaveAdapter: Bool { hasBus && (hasAdapter || access(installed, F_OK) == 0) }

  /// The kernel's names of the adapters. The folder also contains connections, such as `hci0:12`.
  package static func adapters(in folder: String = adapterFolder) -> [String] {
    Directory.names(in: folder).filter { $0.hasPrefix("hci") && !$0.contains(":") }
  }
}
