// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A device, within other documents.
package struct DeviceDocument: Encodable, Sendable {
  let id, path, source: String
  let link, driver, name, manufacturer, model, serial, terminal: OrNull<String>
  let links, ways: [String]
  let initialized: Bool
  let usb: OrNull<USBDocument>
  /// Null where it wasn't looked at: the command itself has the device open then, or a service told of it.
  let access: OrNull<AccessDocument>
  /// Which accessory on its line it is; null where it is alone there.
  let unit: OrNull<Int>
  /// What the service that holds it says of it; null where none does, or where none was asked.
  let service: OrNull<HeldDocument>

  /// What is known of a device; `access` is what this command saw itself, whatever `device` says of it. `held` is what the
  /// service tells that holds it.
  package init(_ device: Bridge.Device, access: Bridge.Access? = nil, held: Bridge.Accessory? = nil) {
    unit = OrNull(device.unit)
    service = OrNull(held.map(HeldDocument.init))
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

/// Where a device stands with the service that holds it.
package struct HeldDocument: Encodable, Sendable {
  let state: String
  let profile, driver: OrNull<String>
  /// Tries since it was last attached; while it is awaited the number of the next one.
  let tries: Int
  /// While it is awaited: how many tries there will be, null for ever; and how long it is until the next, null where that waits for
  /// the accessory to come.
  let tries_limit, next_try_ms: OrNull<Int>
  /// Who has borrowed it.
  let holder: OrNull<String>
  /// Why it isn't attached.
  let problem: OrNull<ProblemDocument>
  /// "allowed" or "refused"; null where its protocol has no writes.
  let writes: OrNull<String>
  /// How long ago its status and its battery were read, the older of them; and whether that is longer than it should be.
  let readings_age_ms: OrNull<Int>
  let stale: Bool

  init(_ accessory: Bridge.Accessory) {
    state = accessory.state.rawValue
    (profile, driver) = (OrNull(accessory.profile), OrNull(accessory.driver))
    tries = accessory.tries
    (tries_limit, next_try_ms) = (OrNull(accessory.tries_limit), OrNull(accessory.next_try_ms))
    holder = OrNull(accessory.holder)
    problem = OrNull(accessory.problem.map { ProblemDocument($0.error(or: .ioFailure)) })
    writes = OrNull(accessory.writes?.rawValue)
    readings_age_ms = OrNull(accessory.readings_age_ms)
    stale = accessory.stale ?? false
  }
}

/// What went wrong, within other documents: the kind has the names that errors have.
package struct ProblemDocument: Encodable, Sendable {
  let kind, message: String

  /// What an error says.
  package init(_ error: AccessoryError) { (kind, message) = (error.kind.rawValue, error.message) }
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
