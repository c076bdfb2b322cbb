// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command as the user types it: a name, and arguments as `name=value`.
public struct CommandDescription: Sendable, Hashable {
  /// The command's name.
  public var name: String
  /// What the command does, as a sentence without its period.
  public var summary: String
  /// The arguments, which may be given in any order.
  public var arguments: [Argument]
  /// The values that come back.
  public var results: [Result]
  /// Whether the command can change something that must not change by mistake, such as the settings of a battery or the
  /// output of an inverter. Such a command needs [two permissions](WriteRules).
  public var isWrite: Bool

  /// A command with these properties.
  public init(
    _ name: String, _ summary: String, _ arguments: [Argument] = [], results: [Result] = [], isWrite: Bool = false
  ) {
    self.isWrite = isWrite
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.results = results
  }

  /// An argument of a command.
  public struct Argument: Sendable, Hashable {
    /// The name, before the equals sign.
    public var name: String
    /// The values that are allowed.
    public var kind: Kind
    /// The unit of a number.
    public var unit: String?
    /// The default; nil when the argument is required.
    public var defaultValue: CommandValue?

    /// An argument with these properties.
    public init(_ name: String, _ kind: Kind, unit: String? = nil, defaultValue: CommandValue? = nil) {
      self.name = name
      self.kind = kind
      self.unit = unit
      self.defaultValue = defaultValue
    }
  }

  /// The values that an argument allows.
  public enum Kind: Sendable, Hashable {
    /// A whole number in this range, in decimal.
    case whole(ClosedRange<Int>)
    /// One of these words, in upper or lower case.
    case choice([String])
    /// One or more of these words, separated by commas.
    case choices([String])
    /// A text of at most this many bytes.
    case text(Int)
    /// Bytes in hexadecimal, at most this many.
    case bytes(Int)
    /// `yes` or `no`.
    case flag
  }

  /// A value that a command returns.
  public struct Result: Sendable, Hashable {
    /// The value's name.
    public var name: String
    /// The unit of a number.
    public var unit: String?

    /// A result with these properties.
    public init(_ name: String, unit: String? = nil) {
      self.name = name
      self.unit = unit
    }
  }
}

/// The value of an argument or a result.
public typealias CommandValue = PlainValue

/// A command with valid arguments.
public struct CommandCall: Sendable, Hashable {
  /// The command to carry out.
  public let command: CommandDescription
  /// The arguments by name, including defaults of those that were left out.
  public let values: [String: CommandValue]
  /// Whether the call may change something in the accessory. Drivers refuse a write without this.
  public private(set) var isPermitted = false

  /// A call that may not change anything.
  init(command: CommandDescription, values: [String: CommandValue]) { (self.command, self.values) = (command, values) }

  /// The same call, allowed to change something. Accessories from `DeviceOpener` that were opened for writing do this themselves.
  /// Call it only if you open a driver's own type, and have made sure in another way that the change is wanted.
  public func permitted() -> CommandCall {
    var call = self
    call.isPermitted = true
    return call
  }

  /// The whole number of an argument; 0 when there is none.
  public func whole(_ name: String) -> Int { if case .whole(let value)? = values[name] { value } else { 0 } }

  /// The text of an argument, or its chosen word; "" when there is none.
  public func text(_ name: String) -> String { if case .text(let value)? = values[name] { value } else { "" } }

  /// The chosen words of an argument.
  public func words(_ name: String) -> [String] {
    guard case .list(let list)? = values[name] else { return [] }
    return list.compactMap { if case .text(let word) = $0 { word } else { nil } }
  }

  /// The bytes of an argument.
  public func bytes(_ name: String) -> [UInt8] { if case .bytes(let value)? = values[name] { value } else { [] } }

  /// Whether an argument is yes.
  public func flag(_ name: String) -> Bool { values[name] == .flag(true) }
}

/// The reply to a command. It has one value for each of the command's results, or none if replies weren't awaited.
public struct CommandReply: Sendable, Hashable {
  /// The command that was carried out.
  public var command: CommandDescription
  /// The values that came back.
  public var values: [CommandValue]

  /// A reply to this command.
  public init(_ command: CommandDescription, _ values: [CommandValue] = []) {
    self.command = command
    self.values = values
  }
}
