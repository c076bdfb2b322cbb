// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An attached accessory: its device is open and, if its protocol is known, contact is made.
struct OpenAccessory: Sendable {
  let session: AccessorySession
  /// Nil where no driver speaks its protocol.
  let accessory: (any Accessory)?
  /// Whether others are on the line, which stays open for them.
  var isShared = false

  /// Opens the device and, where there is a driver, makes contact. Throws what that throws; then it is closed.
  static func open(_ opener: DeviceOpener) async throws(AccessoryError) -> OpenAccessory {
    try opener.checkUnit()
    if opener.isOnSharedLine {
      let (session, accessory) = try await opener.sharedAccessory()
      return OpenAccessory(session: session, accessory: accessory, isShared: true)
    }
    let session = try await opener.unguardedSession()
    let accessory: (any Accessory)? = opener.driver == nil ? nil : try await opener.contact(over: session)
    return OpenAccessory(session: session, accessory: accessory)
  }

  func close() async {
    if let accessory { await accessory.close() }
    if !isShared { await session.close() }
  }

  /// Calls `body` once when the device is unplugged, but not when the service closes it. `heard` is called with the
  /// accessory's events. Returns the task that listens.
  func follow(
    heard: @escaping @Sendable (AccessoryNews) async -> Void, ended: @escaping @Sendable (AccessoryError) async -> Void
  ) -> Task<Void, Never> {
    guard let accessory else { return followWithoutDriver(ended) }
    let news = accessory.news()
    return Task {
      do throws(AccessoryError) {
        for try await one in news { await heard(one) }
      } catch {
        await ended(error)
      }
    }
  }

  /// Bytes that nobody reads are discarded, so that the end behind them is noticed.
  private func followWithoutDriver(_ ended: @escaping @Sendable (AccessoryError) async -> Void) -> Task<Void, Never> {
    let input = session.input
    return Task {
      do {
        for try await _ in input {}
      } catch {
        await ended(error as? AccessoryError ?? AccessoryError(.ioFailure, "\(error)"))
      }
    }
  }
}
