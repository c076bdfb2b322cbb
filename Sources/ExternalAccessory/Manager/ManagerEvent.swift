// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// An event that is handled on the main thread.
enum ManagerEvent: Sendable {
  case connected(EAAccessory, notifies: Bool)
  case disconnected(EAAccessory, notifies: Bool)
  case picking(PickerRequest)
  /// A picker's search by Bluetooth has found these devices.
  case found(Int, [Device])
  case pickingTimeOver(Int)
  case pickingEnded(Int, EABluetoothAccessoryPickerError.Code)

  /// Whether a notification is posted.
  var notifies: Bool {
    switch self {
    case .connected(_, let notifies), .disconnected(_, let notifies): notifies
    case .picking, .found, .pickingTimeOver, .pickingEnded: false
    }
  }
}

/// A call of the picker that waits for an accessory.
///
/// `@unchecked Sendable`: filter and completion are used on the main thread only.
struct PickerRequest: @unchecked Sendable {
  let id: Int
  let filter: NSPredicate?
  let completion: EABluetoothAccessoryPickerCompletion?

  /// Whether something was found by Bluetooth, and one of it is being chosen and connected.
  var isChoosing = false

  /// Whether an accessory's name matches the filter.
  func fits(_ name: String) -> Bool { filter?.evaluate(with: name) ?? true }
}
