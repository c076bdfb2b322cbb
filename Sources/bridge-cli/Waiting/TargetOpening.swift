// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

// Opening a device from a command, with a note on the terminal when it takes long.

extension Target {
  /// Opens the device without the driver's greeting: to listen, or before the driver makes contact.
  func unguardedSession() async throws(AccessoryError) -> AccessorySession {
    try await opened { () async throws(AccessoryError) in try await opener.unguardedSession() }
  }

  /// Opens the device and runs the driver's greeting, for code that then speaks the protocol itself.
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

  /// How long nothing is sent after the device was opened; nil for no pause.
  var settleTime: Duration? {
    let settle = opener.settings.terminal.settle
    return device.address.transport == .terminal && settle > .zero ? settle : nil
  }
}
