// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Foundation

/// The adapter that a program's managers use where the computer has several. Apple's API has no place for this choice, so it is in the
/// environment, which is read when a manager is made.
enum AdapterChoice {
  static let variable = "ACCESSORY_BRIDGE_BLUETOOTH_ADAPTER"

  /// The radio for a new manager.
  static var radio: any Radio { Radios.current(by: adapter(ProcessInfo.processInfo.environment[variable])) }

  /// The adapter that a text names; nil, for any one, without a text, or, which is logged, where it is no name.
  static func adapter(_ text: String?) -> BluetoothAdapterName? {
    guard let text, !text.isEmpty else { return nil }
    let name = BluetoothAdapterName(text)
    if name == nil {
      Misuse.log(
        "\(variable) must be the name of an adapter, like hci1, or its address: any adapter is used, not "
          + SafeText.escape(text))
    }
    return name
  }
}
