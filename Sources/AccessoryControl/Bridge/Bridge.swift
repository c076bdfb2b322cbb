// SPDX-License-Identifier: Apache-2.0

/// The types of the Varlink interface `accessorybridge.Bridge`, with their names on the wire.
/// `accessorybridge.Bridge.varlink` documents them.
package enum Bridge {
  /// The name of the interface.
  package static let name = "accessorybridge.Bridge"

  /// The interface's definition: the checked-in file, which is built into the program.
  package static let text = String(decoding: PackageResources.accessorybridge_Bridge_varlink, as: UTF8.self)

  package struct USBEndpoint: Codable, Sendable, Hashable {
    package var address, interval: UInt8
    package var direction, transfer: String
    package var max_packet_bytes: Int

    package init(address: UInt8, interval: UInt8, direction: String, transfer: String, max_packet_bytes: Int) {
      self.address = address
      self.interval = interval
      self.direction = direction
      self.transfer = transfer
      self.max_packet_bytes = max_packet_bytes
    }
  }

  package struct USBInterface: Codable, Sendable, Hashable {
    package var number, alternate_setting, `class`, subclass, `protocol`: UInt8
    package var class_name, driver: String?
    package var endpoints: [USBEndpoint]

    package init(
      number: UInt8, alternate_setting: UInt8, class: UInt8, subclass: UInt8, protocol: UInt8,
      class_name: String? = nil, driver: String? = nil, endpoints: [USBEndpoint]
    ) {
      self.number = number
      self.alternate_setting = alternate_setting
      self.class = `class`
      self.subclass = subclass
      self.protocol = `protocol`
      self.class_name = class_name
      self.driver = driver
      self.endpoints = endpoints
    }
  }

  package struct USB: Codable, Sendable, Hashable {
    package var vendor_id, product_id: UInt16
    package var bus, address: Int
    package var node, port: String
    package var speed_mbps: Double?
    package var configuration: UInt8?
    package var interfaces: [USBInterface]
    package var damage: String?

    package init(
      vendor_id: UInt16, product_id: UInt16, bus: Int, address: Int, node: String, port: String,
      speed_mbps: Double? = nil, configuration: UInt8? = nil, interfaces: [USBInterface], damage: String? = nil
    ) {
      self.vendor_id = vendor_id
      self.product_id = product_id
      self.bus = bus
      self.address = address
      self.node = node
      self.port = port
      self.speed_mbps = speed_mbps
      self.configuration = configuration
      self.interfaces = interfaces
      self.damage = damage
    }
  }

  package struct Access: Codable, Sendable, Hashable {
    package var permitted: Bool
    package var refusal, holder: String?

    package init(permitted: Bool, refusal: String? = nil, holder: String? = nil) {
      self.permitted = permitted
      self.refusal = refusal
      self.holder = holder
    }
  }

  package struct Device: Codable, Sendable, Hashable {
    package var id, path, source: String
    package var link, driver, name, manufacturer, model, serial, terminal: String?
    package var links, ways: [String]
    package var initialized: Bool
    package var usb: USB?
    package var access: Access?
    package var unit: Int?

    /// The unique name: the path, followed by the unit on a line with several accessories.
    package var place: String { unit.map { "\(path)@\($0)" } ?? path }

    package init(
      id: String, path: String, source: String, link: String? = nil, driver: String? = nil, name: String? = nil,
      manufacturer: String? = nil, model: String? = nil, serial: String? = nil, terminal: String? = nil,
      links: [String] = [], ways: [String] = [], initialized: Bool = true, usb: USB? = nil, access: Access? = nil,
      unit: Int? = nil
    ) {
      self.unit = unit
      self.id = id
      self.path = path
      self.source = source
      self.link = link
      self.driver = driver
      self.name = name
      self.manufacturer = manufacturer
      self.model = model
      self.serial = serial
      self.terminal = terminal
      self.links = links
      self.ways = ways
      self.initialized = initialized
      self.usb = usb
      self.access = access
    }
  }
}
