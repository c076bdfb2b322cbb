// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Events of devices. The raw values are the names in the documents.
package enum DeviceEventName: String, Sendable, Hashable, CaseIterable {
  /// The device was plugged in.
  case connected
  /// The device is still plugged in, but its properties have changed.
  case changed
  /// The device was unplugged.
  case disconnected
}

/// Events of devices, as lines for people.
package enum DeviceEventView {
  private static let width = DeviceEventName.allCases.map(\.rawValue.count).max() ?? 0

  /// "14:03:59  connected     SIM0001  Lamp  2341:0043  /dev/ttyACM0"; unknown parts are left out.
  package static func line(
    _ event: DeviceEventName, _ device: Device, at time: String = WallClock.timeOfDay,
    _ style: Style = .standardOutput
  ) -> String {
    let word = padded(event.rawValue)
    var parts = [
      style.dim(time), event == .disconnected ? style.red(word) : style.green(word),
      style.bold(SafeText.escape(device.id, limit: 32)),
    ]
    if let name = device.given?.name ?? device.name { parts.append(SafeText.escape(name, limit: 32)) }
    if let usb = device.usb {
      parts.append(usb.product)
    }
    parts.append(SafeText.escape(device.path))
    return parts.joined(separator: "  ")
  }

  /// A word padded to the width of the event column.
  static func padded(_ word: String) -> String { word + String(repeating: " ", count: max(0, width - word.count)) }
}
