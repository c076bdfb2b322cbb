// SPDX-License-Identifier: Apache-2.0

/// A list of devices.
package struct DeviceListDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.deviceList
  let devices: [DeviceDocument]
  /// The accessories that were attached to a service and are gone, with their last readings.
  let absent: [DeviceDocument]

  /// Creates a list of devices in display order.
  package init(_ devices: [DeviceDocument], absent: [DeviceDocument] = []) {
    (self.devices, self.absent) = (devices, absent)
  }
}

/// An event of a device.
package struct DeviceEventDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.deviceEvent
  let event: String
  let time: Double
  let device: DeviceDocument

  /// An event; `time` is in seconds since 1970, UTC.
  package init(_ event: DeviceEventName, at time: Double, _ device: DeviceDocument) {
    self.event = event.rawValue
    self.time = time
    self.device = device
  }
}
