// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO
import BridgeService
import CommandOutput

extension DeviceDocument {
  /// A device that this process has found. `access` is nil where the device's node wasn't looked at.
  init(_ device: Device, access: PortAccess? = nil, held: Bridge.Accessory? = nil) {
    self.init(Bridge.Device(device), access: access.map { Bridge.Access($0) }, held: held)
  }
}

extension Bridge.Access {
  /// Whether the port may be opened, and which program has it open.
  init(_ access: PortAccess) {
    self.init(permitted: access.refusal == nil, refusal: access.refusal?.message, holder: access.holder)
  }
}
