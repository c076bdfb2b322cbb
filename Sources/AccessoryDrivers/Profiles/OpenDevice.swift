// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import AccessoryLink

extension Profile {
  /// Opens `device`, by the way in that is its path, as this profile says. Throws what `AccessorySession.open` throws.
  public func open(_ device: Device, io: IOThread = .shared) async throws(AccessoryError) -> AccessorySession {
    guard device.way == .terminal else {
      let session = try await AccessorySession.open(USBConfiguration(path: device.path), io: io)
      if settle > .zero { await io.sleep(for: settle) }
      guard Task.isCancelled else { return session }
      await session.close()
      throw AccessoryError(.cancelled, "opening \(device.path) was cancelled")
    }
    var terminal = TerminalConfiguration(path: device.path, baudRate: baudRate)
    terminal.settle = settle
    return try await AccessorySession.open(terminal, io: io)
  }
}
