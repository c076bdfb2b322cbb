// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What happens to devices, by its name in the documents.
package enum DeviceEventName: String, Sendable, Hashable, CaseIterable {
  /// It came.
  case connected
  /// It is still there, with other facts.
  case changed
  /// It is gone.
  case disconnected
}

/// What happens to devices, for people.
package enum DeviceEventView {
  private static let width = DeviceEventName.allCases.map(\.rawValue.count).max() ?? 0

  /// "14:03:59  connected     SIM0001  Lamp  2341:0043  /dev/ttyACM0", without what isn't known.
  package static func line(
    _ event: DeviceEventName, _ device: Bridge.Device, at time: String = WallClock.timeOfDay,
    _ style: Style = .standardOutput
  ) -> String {
    let word = event.rawValue + String(repeating: " ", count: width - event.rawValue.count)
    var parts = [
      style.dim(time), event == .disconnected ? style.red(word) : style.green(word),
      style.bold(SafeText.escape(device.id, limit: 32)),
    ]
    if let name = device.name { parts.append(SafeText.escape(name, limit: 32)) }
    if let usb = device.usb {
      parts.append(Hexadecimal.string(usb.vendor_id) + ":" + Hexadecimal.string(usb.product_id))
    }
    parts.append(SafeText.escape(device.path))
    return parts.joined(separator: "  ")
  }
}
