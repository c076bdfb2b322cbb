// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A device, as a part of other documents.
package struct DeviceDocument: Encodable, Sendable {
  let id, path, source: String
  let link, driver, name, manufacturer, model, serial, terminal: OrNull<String>
  let links, ways: [String]
  let initialized: Bool
  let usb: OrNull<USBDocument>
  /// Null where it wasn't looked up: this command has the device open, or a service has reported the device.
  let access: OrNull<AccessDocument>
  /// The unit of the accessory on its line; null where the line has one accessory.
  let unit: OrNull<Int>
  /// The state with the service that holds the device; null where no service holds it, or where no service was asked.
  let service: OrNull<HeldDocument>

  /// A device. `access` is what this process has found, and takes the place of the access in `device`. `held` is the
  /// record of the service that holds the device.
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

/// The state of a device with the service that holds it.
package struct HeldDocument: Encodable, Sendable {
  let state: String
  let profile, driver: OrNull<String>
  /// The number of tries since it was last attached; while it is waited for, the number of the next try.
  let tries: Int
  /// While it is waited for: the number of tries that are allowed, null for no limit; and the time until the next try,
  /// null where that waits until the accessory is plugged in.
  let tries_limit, next_try_ms: OrNull<Int>
  /// The client that has borrowed it.
  let holder: OrNull<String>
  /// Why it isn't attached.
  let problem: OrNull<ProblemDocument>
  /// "allowed" or "refused"; null where its protocol has no writes.
  let writes: OrNull<String>
  /// The age of the older of its last status and its last battery reading, and whether that age exceeds the expected
  /// one.
  let readings_age_ms: OrNull<Int>
  let stale: Bool
  /// The raised alarms; null from a service that is too old for alarms.
  let alarms: OrNull<[AccessoryAlarm]>
  /// The rules whose alarms are never raised, because their limits don't fit.
  let unfit_alarms: [Bridge.UnfitAlarm]

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
    alarms = OrNull(accessory.alarms)
    unfit_alarms = accessory.unfit_alarms ?? []
  }
}

/// An error, as a part of other documents. The kinds are those of `ErrorDocument`.
package struct ProblemDocument: Encodable, Sendable {
  let kind, message: String

  /// The kind and the message of an error.
  package init(_ error: AccessoryError) { (kind, message) = (error.kind.rawValue, error.message) }
}

/// Whether a device may be opened, and which program has it open.
struct AccessDocument: Encodable, Sendable {
  let permitted: Bool
  let refusal, holder: OrNull<String>

  init(_ access: Bridge.Access) {
    permitted = access.permitted
    refusal = OrNull(access.refusal)
    holder = OrNull(access.holder)
  }
}

/// A device's USB descriptors and interfaces.
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
