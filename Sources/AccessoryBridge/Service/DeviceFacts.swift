// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

extension Device {
  /// The device that a service describes.
  package init(_ facts: Bridge.Device) {
    self.init(
      DeviceAddress(facts.path) ?? .node(facts.path), link: facts.link,
      source: Source(rawValue: facts.source) ?? .named, driver: facts.driver,
      name: facts.name, manufacturer: facts.manufacturer, model: facts.model, serialNumber: facts.serial,
      terminal: facts.terminal, usb: facts.usb.map(USBIdentity.init))
    unit = facts.unit
    links = facts.links
    isInitialized = facts.initialized
  }
}

extension USBIdentity {
  init(_ facts: Bridge.USB) {
    self.init(
      vendorID: facts.vendor_id, productID: facts.product_id, bus: facts.bus, address: facts.address,
      node: facts.node, port: facts.port, devpath: "", speed: facts.speed_mbps,
      function: USBClass(code: 0, subclass: 0, protocol: 0), damage: facts.damage)
    configuration = facts.configuration
    interfaces = facts.interfaces.map(USBInterface.init)
  }
}

extension USBInterface {
  init(_ facts: Bridge.USBInterface) {
    let endpoints = facts.endpoints.compactMap { endpoint in
      USBEndpointDescription.Transfer(rawValue: endpoint.transfer).map {
        USBEndpointDescription(
          address: endpoint.address, transfer: $0, maxPacketSize: endpoint.max_packet_bytes, packetsPerInterval: 1,
          interval: endpoint.interval)
      }
    }
    self.init(
      description: USBInterfaceDescription(
        number: facts.number, alternateSetting: facts.alternate_setting,
        function: USBClass(code: facts.class, subclass: facts.subclass, protocol: facts.protocol), endpoints: endpoints),
      driver: facts.driver)
  }
}
