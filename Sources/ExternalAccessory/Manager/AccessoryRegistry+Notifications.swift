// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Notifications and the accessories' delegates: called on the main thread.
extension AccessoryRegistry {
  /// Posts one notification. Called on the main thread. True when more are pending.
  func perform() -> Bool {
    let (news, manager) = state.withLock { state in
      (state.news.isEmpty ? nil : state.news.removeFirst(), state.manager)
    }
    switch news {
    case .connected(let accessory, let notifies): postConnected(accessory, notifies, manager)
    case .disconnected(let accessory, let notifies): postDisconnected(accessory, notifies, manager)
    case .picking(let request): beginPicking(request)
    case .found(let id, let devices): found(id, devices)
    case .pickingTimeOver(let id): timeIsOver(id)
    case .pickingEnded(let id, let code): endPicker(id, code)
    case nil: return false
    }
    return state.withLock { !$0.news.isEmpty }
  }

  private func postConnected(_ accessory: EAAccessory, _ notifies: Bool, _ manager: EAAccessoryManager?) {
    // An accessory that is gone again is posted, but no picker gets it.
    let picker = accessory.isConnected ? takePicker { $0.fits(accessory.name) } : nil
    if notifies, let manager {
      var information = [EAAccessoryKey: accessory]
      if picker != nil { information[EAAccessorySelectedKey] = accessory }
      NotificationCenter.default.post(name: .EAAccessoryDidConnect, object: manager, userInfo: information)
      #if compiler(>=6.3)
        MainActor.assumeIsolated {
          NotificationCenter.default.post(
            EAAccessoryManager.AccessoryDidConnectMessage(accessory: accessory, userSelected: picker != nil),
            subject: manager)
        }
      #endif
    }
    picker?.completion?(nil)
  }

  private func postDisconnected(_ accessory: EAAccessory, _ notifies: Bool, _ manager: EAAccessoryManager?) {
    if notifies, let manager {
      NotificationCenter.default.post(
        name: .EAAccessoryDidDisconnect, object: manager, userInfo: [EAAccessoryKey: accessory])
      #if compiler(>=6.3)
        MainActor.assumeIsolated {
          NotificationCenter.default.post(
            EAAccessoryManager.AccessoryDidDisconnectMessage(accessory: accessory), subject: manager)
        }
      #endif
    }
    accessory.delegate?.accessoryDidDisconnect(accessory)
  }
}
