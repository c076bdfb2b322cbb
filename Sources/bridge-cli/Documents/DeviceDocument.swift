// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO

struct DeviceDocument: Encodable, Sendable {
  let id, path, source: String
  let link, driver, name, manufacturer, model, serial, terminal: OrNull<String>
  let links, ways: [String]
  let initialized: Bool
  let usb: OrNull<USBDocument>
  /// Null where it wasn't looked at: the command itself has the device open then.
  let access: OrNull<AccessDocument>

  init(_ device: Device, access: PortAccess? = nil) {
    id = device.id
    path = device.address.description
    source = device.source.rawValue
    link = OrNull(device.link)
    driver = OrNull(device.driver)
    name = OrNull(device.name)
    manufacturer = OrNull(device.manufacturer)
    model = OrNull(device.model)
    serial = OrNull(device.serialNumber)
    terminal = OrNull(device.terminal)
    links = device.links
    ways = device.transports.map(\.rawValue)
    initialized = device.isInitialized
    usb = OrNull(device.usb.map(USBDocument.init))
    self.access = OrNull(access.map(AccessDocument.init))
  }

  /// A device that a service tells of.
  init(_ device: Bridge.Device) {
    id = device.id
    path = device.path
    source = device.source
    link = OrNull(device.link)
    driver = OrNull(device.driver)
    name = OrNull(device.name)
    manufacturer = OrNull(device.manufacturer)
    model = OrNull(device.model)
    serial = OrNull(device.serial)
    terminal = OrNull(device.terminal)
    links = device.links
    ways = device.ways
    initialized = device.initialized
    usb = OrNull(device.usb.map(USBDocument.init))
    access = OrNull(nil)
  }
}

struct AccessDocument: Encodable, Sendable {
  let permitted: Bool
  let refusal, holder: OrNull<String>

  init(_ access: PortAccess) {
    permitted = access.refusal == nil
    refusal = OrNull(access.refusal?.message)
    holder = OrNull(access.holder)
  }
}

struct USBDocument: Encodable, Sendable {
  struct Interface: Encodable {
    let number, alternate_setting, `class`, subclass, `protocol`: UInt8
    let class_name, driver: OrNull<String>
    let endpoints: [Endpoint]

    init(_ interface: USBInterface) {
      let description = interface.description
      number = description.number
      alternate_setting = description.alternateSetting
      `class` = description.function.code
      subclass = description.function.subclass
      `protocol` = description.function.protocol
      class_name = OrNull(description.function.name)
      driver = OrNull(interface.driver)
      endpoints = description.endpoints.map(Endpoint.init)
    }

    init(_ interface: Bridge.USBInterface) {
      number = interface.number
      alternate_setting = interface.alternate_setting
      `class` = interface.class
      subclass = interface.subclass
      `protocol` = interface.protocol
      class_name = OrNull(interface.class_name)
      driver = OrNull(interface.driver)
      endpoints = interface.endpoints.map(Endpoint.init)
    }
  }

  /// As a service tells it.
  init(_ usb: Bridge.USB) {
    vendor_id = usb.vendor_id
    product_id = usb.product_id
    bus = usb.bus
    address = usb.address
    node = usb.node
    port = usb.port
    speed_mbps = OrNull(usb.speed_mbps)
    configuration = OrNull(usb.configuration)
    interfaces = usb.interfaces.map(Interface.init)
    damage = OrNull(usb.damage)
  }

  struct Endpoint: Encodable {
    let address, interval: UInt8
    let direction, transfer: String
    let max_packet_bytes: Int

    init(_ endpoint: USBEndpointDescription) {
      address = endpoint.address
      interval = endpoint.interval
      direction = endpoint.direction.rawValue
      transfer = endpoint.transfer.rawValue
      max_packet_bytes = endpoint.maxPacketSize
    }

    init(_ endpoint: Bridge.USBEndpoint) {
      address = endpoint.address
      interval = endpoint.interval
      direction = endpoint.direction
      transfer = endpoint.transfer
      max_packet_bytes = endpoint.max_packet_bytes
    }
  }

  let vendor_id, product_id: UInt16
  let bus, address: Int
  let node, port: String
  let speed_mbps: OrNull<Double>
  let configuration: OrNull<UInt8>
  let interfaces: [Interface]
  let damage: OrNull<String>

  init(_ usb: USBIdentity) {
    vendor_id = usb.vendorID
    product_id = usb.productID
    bus = usb.bus
    address = usb.address
    node = usb.node
    port = usb.port
    speed_mbps = OrNull(usb.speed)
    configuration = OrNull(usb.configuration)
    interfaces = usb.interfaces.map(Interface.init)
    damage = OrNull(usb.damage)
  }
}
