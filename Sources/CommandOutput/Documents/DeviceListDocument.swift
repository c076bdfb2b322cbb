// SPDX-License-Identifier: Apache-2.0

/// The devices that there are.
package struct DeviceListDocument: Encodable {
  let schema = DocumentSchema.name
  let devices: [DeviceDocument]

  /// The devices, in the order in which they are shown.
  package init(_ devices: [DeviceDocument]) { self.devices = devices }
}

/// Something that happened to a device.
package struct DeviceEventDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let time: Double
  let device: DeviceDocument

  /// What happened to a device, in seconds since 1970, UTC.
  package init(_ event: DeviceEventName, at time: Double, _ device: DeviceDocument) {
    self.event = event.rawValue
    self.time = time
    self.device = device
  }
}
