// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The parameters of a method, with the method's name and the type of its reply.
package protocol ControlMethod: Codable, Sendable {
  associatedtype Reply: Codable & Sendable
  /// The method's name, preceded by the interface's.
  static var method: String { get }
}

// The methods of `accessorybridge.Bridge`, which `accessorybridge.Bridge.varlink` documents.

extension Bridge {
  package struct ServiceLimits: Codable, Sendable, Hashable {
    package var accessories, attached, clients, clients_of_one_user: Int

    package init(accessories: Int, attached: Int, clients: Int, clients_of_one_user: Int) {
      self.accessories = accessories
      self.attached = attached
      self.clients = clients
      self.clients_of_one_user = clients_of_one_user
    }
  }

  package struct GetService: ControlMethod {
    package static let method = "accessorybridge.Bridge.Service"

    package struct Reply: Codable, Sendable, Hashable {
      package var product, version: String
      package var process: Int
      package var started: Double
      package var uptime_ms: Int
      package var socket: String?
      package var accessories, attached, clients: Int
      package var limits: ServiceLimits
      /// Older services don't report it.
      package var readings_socket: String?

      package init(
        product: String, version: String, process: Int, started: Double, uptime_ms: Int, socket: String? = nil,
        accessories: Int, attached: Int, clients: Int, limits: ServiceLimits, readings_socket: String? = nil
      ) {
        self.readings_socket = readings_socket
        (self.product, self.version, self.process) = (product, version, process)
        (self.started, self.uptime_ms, self.socket) = (started, uptime_ms, socket)
        (self.accessories, self.attached, self.clients, self.limits) = (accessories, attached, clients, limits)
      }
    }

    package init() {}
  }

  package struct List: ControlMethod {
    package static let method = "accessorybridge.Bridge.List"

    package struct Reply: Codable, Sendable, Hashable {
      package var accessories: [Accessory]
      package init(accessories: [Accessory]) { self.accessories = accessories }
    }

    /// Whether absent accessories are listed, and the last readings of all that can't be reached. Left out when false, since older
    /// services reject the field.
    package var absent: Bool?

    package init(absent: Bool = false) { self.absent = absent ? true : nil }
  }

  package struct GetInfo: ControlMethod {
    package static let method = "accessorybridge.Bridge.Info"

    package struct Reply: Codable, Sendable, Hashable {
      package var accessory: Accessory
      package var line: Line?
      package var `protocol`: ProtocolDetails?
      package var identity: AccessoryIdentity?

      package init(
        accessory: Accessory, line: Line? = nil, protocol: ProtocolDetails? = nil, identity: AccessoryIdentity? = nil
      ) {
        self.accessory = accessory
        self.line = line
        self.protocol = `protocol`
        self.identity = identity
      }
    }

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }

  package struct Request: ControlMethod {
    package static let method = "accessorybridge.Bridge.Request"

    package struct Answer: Codable, Sendable, Hashable {
      package var payload_hex: String
      package var payload_bytes: Int

      package init(_ payload: [UInt8]) { (payload_hex, payload_bytes) = (Hexadecimal.string(payload), payload.count) }

      /// The payload; nil when the text isn't hexadecimal.
      package var payload: [UInt8]? { Hexadecimal.bytes(payload_hex) }
    }

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var command: String
      package var command_byte: UInt8
      package var reply: Answer

      package init(device: Device, command: String, command_byte: UInt8, reply: Answer) {
        self.device = device
        self.command = command
        self.command_byte = command_byte
        self.reply = reply
      }
    }

    package var device: String?
    package var command: String
    package var payload_hex: String?
    package var timeout_ms: Int?
    package var write: Bool?

    package init(
      device: String? = nil, command: String, payload: [UInt8] = [], timeout_ms: Int? = nil, write: Bool = false
    ) {
      self.write = write ? true : nil
      self.device = device
      self.command = command
      payload_hex = payload.isEmpty ? nil : Hexadecimal.string(payload)
      self.timeout_ms = timeout_ms
    }

    /// The payload; nil when the text isn't hexadecimal. The server rejects such a call before a handler sees it.
    package var payload: [UInt8]? { Hexadecimal.bytes(payload_hex ?? "") }
  }

  package struct Subscribe: ControlMethod {
    package static let method = "accessorybridge.Bridge.Subscribe"
    package typealias Reply = Event

    package var device: String?
    /// Whether values are subscribed to. Left out when false, since older services reject the field.
    package var values: Bool?
    /// Whether alarms are subscribed to. Left out when false, for the same reason.
    package var alarms: Bool?
    /// Whether devices that the service begins to open are subscribed to. Left out when false, for the same reason.
    package var found: Bool?
    /// Whether changes of the list that no other event tells are subscribed to. Left out when false, for the same reason.
    package var changes: Bool?

    package init(
      device: String? = nil, values: Bool = false, alarms: Bool = false, found: Bool = false, changes: Bool = false
    ) {
      self.device = device
      self.changes = changes ? true : nil
      self.values = values ? true : nil
      self.alarms = alarms ? true : nil
      self.found = found ? true : nil
    }
  }

  package struct Trace: ControlMethod {
    package static let method = "accessorybridge.Bridge.Trace"
    package typealias Reply = TracePiece

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }

  /// The reply to methods that return only the device.
  package struct DeviceReply: Codable, Sendable, Hashable {
    package var device: Device
    package init(device: Device) { self.device = device }
  }

  package struct Open: ControlMethod {
    package static let method = "accessorybridge.Bridge.Open"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var loan: String?
      package var line: Line?

      package init(device: Device, loan: String? = nil, line: Line? = nil) {
        self.device = device
        self.loan = loan
        self.line = line
      }
    }

    package var device: String?
    package var write: Bool?

    package init(device: String? = nil, write: Bool = false) {
      self.device = device
      self.write = write ? true : nil
    }
  }

  package struct Attach: ControlMethod {
    package static let method = "accessorybridge.Bridge.Attach"

    package struct Reply: Codable, Sendable, Hashable {
      package var accessory: Accessory
      package var was_attached: Bool?
      package var accessories: [Accessory]?

      package init(accessory: Accessory, was_attached: Bool? = nil) {
        self.accessory = accessory
        self.was_attached = was_attached
      }
    }

    package var device: String
    package var profile: String?

    package init(device: String, profile: String? = nil) {
      self.device = device
      self.profile = profile
    }
  }

  package struct Expect: ControlMethod {
    package static let method = "accessorybridge.Bridge.Expect"
    package typealias Reply = Done

    package var device: String
    package var identity: String?
    package init(device: String, identity: String? = nil) { (self.device, self.identity) = (device, identity) }
  }

  package struct Name: ControlMethod {
    package static let method = "accessorybridge.Bridge.Name"
    package typealias Reply = DeviceReply

    package var device: String?
    /// What changes: nil for nothing, an empty text for no name or no place of its own.
    package var name, area: String?

    package init(device: String? = nil, name: String? = nil, area: String? = nil) {
      (self.device, self.name, self.area) = (device, name, area)
    }
  }

  package struct Forget: ControlMethod {
    package static let method = "accessorybridge.Bridge.Forget"
    package typealias Reply = DeviceReply

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }

  package struct Detach: ControlMethod {
    package static let method = "accessorybridge.Bridge.Detach"
    package typealias Reply = DeviceReply

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }
}
