// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

// How commands open a device: a person sees what takes long.

extension Target {
  /// Opens the device, for who only listens or lets the driver make contact. `tap` hears every byte.
  func unguardedSession() async throws(AccessoryError) -> AccessorySession {
    try await opened { () async throws(AccessoryError) in try await opener.unguardedSession() }
  }

  /// Opens the device for who speaks its protocol themselves, with the driver's greeting.
  func greetedSession() async throws(AccessoryError) -> AccessorySession {
    try await opened { () async throws(AccessoryError) in try await opener.greetedSession() }
  }

  private func opened(
    _ open: () async throws(AccessoryError) -> AccessorySession
  ) async throws(AccessoryError) -> AccessorySession {
    try await AccessoryWait.opening(label, limit: wait) { () async throws(AccessoryError) in
      guard let settle = settleTime else { return try await open() }
      return try await WaitingLine.during("waiting for \(label) to settle after opening", limit: settle, open)
    }
  }

  /// How long the device is left alone after it was opened; nil when it isn't.
  var settleTime: Duration? {
    let settle = opener.settings.terminal.settle
    return device.address.transport == .terminal && settle > .zero ? settle : nil
  }
}
