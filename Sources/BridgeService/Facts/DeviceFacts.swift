// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

extension Bridge.Device {
  /// Converts a device.
  package init(_ device: Device, access: Bridge.Access? = nil) {
    self.init(
      id: device.id, path: device.address.description, source: device.source.rawValue, link: device.link,
      driver: device.driver,
      name: device.name, manufacturer: device.manufacturer, model: device.model, serial: device.serialNumber,
      terminal: device.terminal, links: device.links, ways: device.transports.map(\.rawValue),
      initialized: device.isInitialized, usb: device.usb.map(Bridge.USB.init), access: access,
      unit: device.unit)
  }
}

extension Bridge.USB {
  init(_ usb: USBIdentity) {
    self.init(
      vendor_id: usb.vendorID, product_id: usb.productID, bus: usb.bus, address: usb.address, node: usb.node,
      port: usb.port, speed_mbps: usb.speed, configuration: usb.configuration,
      interfaces: usb.interfaces.map(Bridge.USBInterface.init), damage: usb.damage)
  }
}

extension Bridge.USBInterface {
  init(_ interface: USBInterface) {
    let description = interface.description
    self.init(
      number: description.number, alternate_setting: description.alternateSetting, class: description.function.code,
      subclass: description.function.subclass, protocol: description.function.protocol,
      class_name: description.function.name, driver: interface.driver,
      endpoints: description.endpoints.map {
        Bridge.USBEndpoint(
          address: $0.address, interval: $0.interval, direction: $0.direction.rawValue, transfer: $0.transfer.rawValue,
          max_packet_bytes: $0.maxPacketSize)
      })
  }
}
