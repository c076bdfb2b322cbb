// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink

extension Profile {
  /// Opens `device` as this profile says: by the way in that it prefers, or else by the one that is the device's path.
  /// Throws what `AccessorySession.open` throws.
  public func open(_ device: Device, io: IOThread = .shared) async throws(AccessoryError) -> AccessorySession {
    let device = choosingWay(device)
    switch device.way {
    case .terminal:
      return try await AccessorySession.open(transport.terminal.configuration(path: device.path), io: io)
    case .usb:
      return try await AccessorySession.open(transport.usb.configuration(path: device.path), io: io)
    case .network:
      guard let address = NetworkAddress(device.path) else {
        throw AccessoryError(.misconfigured, "\(device.path) is no place on the network, like tcp:192.168.0.7:5555")
      }
      return AccessorySession(try await DescriptorTransport.open(address, io: io))
    }
  }
}
