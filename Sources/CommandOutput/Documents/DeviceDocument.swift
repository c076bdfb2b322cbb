// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// A device, within other documents.
package struct DeviceDocument: Encodable, Sendable {
  let id, path, source: String
  let link, driver, name, manufacturer, model, serial, terminal: OrNull<String>
  let links, ways: [String]
  let initialized: Bool
  let usb: OrNull<USBDocument>
  /// Null where it wasn't looked at: the command itself has the device open then, or a service told of it.
  let access: OrNull<AccessDocument>
  /// How long ago the service that holds it read its status and its battery, the older of them; and whether that is longer
  /// than it should be. Left out where nothing is known of that.
  let readings_age_ms: Int?
  let stale: Bool?
  /// Where it stands with the service that holds it, and why it isn't attached. Left out where it is, and where none holds it.
  let state, problem: String?
  /// Which accessory on its line it is; left out where it is alone there.
  let unit: Int?

  /// What is known of a device; `access` is what this command saw itself, whatever `device` says of it. `held` is what the
  /// service tells that holds it.
  package init(_ device: Bridge.Device, access: Bridge.Access? = nil, held: Bridge.Accessory? = nil) {
    readings_age_ms = held?.readings_age_ms
    stale = held?.stale
    let isAway = held.map { $0.state != .attached } ?? false
    (state, problem) = isAway ? (held?.state.rawValue, held?.problem?.message) : (nil, nil)
    unit = device.unit
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
    self.access = OrNull(access.map(AccessDocument.init))
  }
}

/// Whether a device may be opened, and who has it.
struct AccessDocument: Encodable, Sendable {
  let permitted: Bool
  let refusal, holder: OrNull<String>

  init(_ access: Bridge.Access) {
    permitted = access.permitted
    refusal = OrNull(access.refusal)
    holder = OrNull(access.holder)
  }
}

/// What a device says of itself on USB.
struct USBDocument: Encodable, Sendable {
  struct Interface: Encodable {
    let number, alternate_setting, `class`, subclass, `protocol`: UInt8
    let class_name, driver: OrNull<String>
    let endpoints: [Bridge.USBEndpoint]

    init(_ interface: Bridge.USBInterface) {
      number = interface.number
      alternate_setting = interface.alternate_setting
      `class` = interface.class
      subclass = interface.subclass
      `protocol` = interface.protocol
      class_name = OrNull(interface.class_name)
      driver = OrNull(interface.driver)
      endpoints = interface.endpoints
    }
  }

  let vendor_id, product_id: UInt16
  let bus, address: Int
  let node, port: String
  let speed_mbps: OrNull<Double>
  let configuration: OrNull<UInt8>
  let interfaces: [Interface]
  let damage: OrNull<String>

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
}
