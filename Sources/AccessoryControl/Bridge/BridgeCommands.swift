// SPDX-License-Identifier: Apache-2.0

// Named commands.

extension Bridge {
  package struct CommandArgument: Codable, Sendable, Hashable {
    package enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      case whole, choice, choices, text, bytes, flag
    }

    package var name: String
    package var kind: Kind
    package var minimum, maximum: Int?
    package var words: [String]?
    package var limit: Int?
    package var unit, standard: String?

    package init(name: String, kind: Kind) {
      self.name = name
      self.kind = kind
    }
  }

  package struct CommandResult: Codable, Sendable, Hashable {
    package var name: String
    package var unit: String?

    package init(name: String, unit: String? = nil) {
      self.name = name
      self.unit = unit
    }
  }

  package struct Command: Codable, Sendable, Hashable {
    package var name, summary: String
    package var arguments: [CommandArgument]
    package var results: [CommandResult]
    /// True for a command that changes something in the accessory; otherwise left out.
    package var write: Bool?

    package init(name: String, summary: String, arguments: [CommandArgument] = [], results: [CommandResult] = []) {
      self.name = name
      self.summary = summary
      self.arguments = arguments
      self.results = results
    }
  }

  package struct CommandCall: Codable, Sendable, Hashable {
    package var name: String
    package var arguments: [String: String]?

    package init(_ name: String, _ arguments: [String: String] = [:]) {
      self.name = name
      self.arguments = arguments.isEmpty ? nil : arguments
    }
  }

  package struct Value: Codable, Sendable, Hashable {
    package enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
      case whole, number, text, list, bytes, flag, nothing
    }

    package var kind: Kind
    package var whole: Int?
    package var number: Double?
    package var text: String?
    package var list: [Value]?
    package var bytes_hex: String?
    package var flag: Bool?

    package init(kind: Kind) { self.kind = kind }
  }

  package struct CommandReply: Codable, Sendable, Hashable {
    package var command: String
    package var values: [Value]

    package init(command: String, values: [Value]) {
      self.command = command
      self.values = values
    }
  }

  package struct GetCommands: ControlMethod {
    package static let method = "accessorybridge.Bridge.Commands"

    package struct Reply: Codable, Sendable, Hashable {
      package var device: Device
      package var driver: String
      package var commands: [Command]

      package init(device: Device, driver: String, commands: [Command]) {
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
