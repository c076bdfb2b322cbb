// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO
import BridgeService
import CommandOutput

extension DeviceDocument {
  /// A device that this command found itself; `access` is left out where it wasn't looked at.
  init(_ device: Device, access: PortAccess? = nil, held: Bridge.Accessory? = nil) {
    self.init(Bridge.Device(device), access: access.map { Bridge.Access($0) }, held: held)
  }
}

extension Bridge.Access {
  /// Whether a port may be opened, and who has it.
  init(_ access: PortAccess) {
    self.init(permitted: access.refusal == nil, refusal: access.refusal?.message, holder: access.holder)
  }
}
