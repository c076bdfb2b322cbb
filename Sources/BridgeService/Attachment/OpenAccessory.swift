// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory whose device is open. If its driver is known, contact is made.
struct OpenAccessory: Sendable {
  let opened: OpenedDevice
  /// Nil where no driver is known.
  let accessory: (any Accessory)?
  /// Whether other units are on the line. Then closing this accessory leaves the line open.
  var isShared = false

  /// Opens the device and, if there is a driver, makes contact. Throws the error of either after closing the device.
  static func open(_ opener: DeviceOpener) async throws(AccessoryError) -> OpenAccessory {
    try opener.checkUnit()
    if opener.isOnSharedLine {
      let (session, accessory) = try await opener.sharedAccessory()
      return OpenAccessory(opened: .bytes(session), accessory: accessory, isShared: true)
    }
    let opened = try await opener.open()
    let accessory: (any Accessory)? = opener.driver == nil ? nil : try await opener.contact(with: opened)
    return OpenAccessory(opened: opened, accessory: accessory)
  }

  func close() async {
    if let accessory { await accessory.close() }
    if !isShared { await opened.close() }
  }

  /// Calls `ended` once when the device is unplugged, but not when the service closes it, and `heard` with the
  /// accessory's events, gathered. Returns the task that receives them.
  func follow(
    on clock: any TimerClock, heard: @escaping @Sendable (AccessoryNews) async -> Void,
    ended: @escaping @Sendable (AccessoryError) async -> Void
  ) -> Task<Void, Never> {
    guard let accessory else {
      return Task { [opened] in
        do throws(AccessoryError) { try await opened.ended() } catch { await ended(error) }
      }
    }
    let news = accessory.news().gathered(on: clock) { NewsKind($0) }
    return Task {
      do throws(AccessoryError) {
        for try await group in news { for one in group { await heard(one) } }
      } catch {
        await ended(error)
      }
    }
  }
}

/// What newer news replace.
private enum NewsKind: Hashable {
  case battery, status, other
  case values([String])

  init(_ news: AccessoryNews) {
    switch news {
    case .battery: self = .battery
    case .status: self = .status
    case .values(let values): self = .values(values.map(\.name))
    case .other: self = .other
    }
  }
}
