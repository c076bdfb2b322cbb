// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import AccessoryLink

extension Profile {
  /// Opens `device` as this profile says. Throws what `AccessorySession.open` throws.
  public func open(_ device: Device, io: IOThread = .shared) async throws(AccessoryError) -> AccessorySession {
    var terminal = TerminalConfiguration(path: device.path, baudRate: baudRate)
    terminal.settle = settle
    return try await AccessorySession.open(terminal, io: io)
  }
}
