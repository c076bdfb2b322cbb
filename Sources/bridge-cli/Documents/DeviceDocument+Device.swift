// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
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

  /// A device, wherever it was found. `held` is the record of the service that has it open.
  init(_ device: ToldDevice, held: Bridge.Accessory? = nil) { self.init(Bridge.Device(device), held: held) }
}

extension Bridge.Device {
  /// The facts about a device, wherever it was found.
  init(_ told: ToldDevice) { self = told.facts ?? Bridge.Device(told.device) }
}

extension Bridge.Access {
  /// Whether the port may be opened, and which program has it open.
  init(_ access: PortAccess) {
    self.init(permitted: access.refusal == nil, refusal: access.refusal?.message, holder: access.holder)
  }
}
