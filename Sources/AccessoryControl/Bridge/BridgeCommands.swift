// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Named commands.

extension Bridge {
  package struct CommandCall: Codable, Sendable, Hashable {
    package var name: String
    package var arguments: [String: String]?

    package init(_ name: String, _ arguments: [String: String] = [:]) {
      self.name = name
      self.arguments = arguments.isEmpty ? nil : arguments
    }
  }

  package struct GetCommands: ControlMethod {
    package static let method = "accessorybridge.Bridge.Commands"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var driver: String
      package var commands: [CommandDescription]

      package init(device: Device, driver: String, commands: [CommandDescription]) {
        self.device = device
        self.driver = driver
        self.commands = commands
      }
    }

    package var device: String?
    package init(device: String? = nil) { self.device = device }
  }

  package struct Perform: ControlMethod {
    package static let method = "accessorybridge.Bridge.Perform"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var replies: [CommandReply]
      package var sends_hex: [String]?
      package var refusal: String?

      package init(device: Device, replies: [CommandReply]) {
        self.device = device
        self.replies = replies
      }
    }

    package var device: String?
    package var commands: [CommandCall]
    package var no_reply: Bool?
    package var timeout_ms: Int?
    /// Left out when false, since older services reject unknown fields.
    package var write, dry_run: Bool?

    package init(
      device: String? = nil, commands: [CommandCall], no_reply: Bool? = nil, timeout_ms: Int? = nil,
      write: Bool = false, dry_run: Bool = false
    ) {
      (self.write, self.dry_run) = (write ? true : nil, dry_run ? true : nil)
      self.device = device
      self.commands = commands
      self.no_reply = no_reply
      self.timeout_ms = timeout_ms
    }
  }
}
