// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command of an accessory as a person types it: its name, and its arguments as `name=value`.
public struct CommandDescription: Sendable, Hashable {
  /// What is typed.
  public var name: String
  /// What it does, in a sentence without its period.
  public var summary: String
  /// What follows the name, in any order.
  public var arguments: [Argument]
  /// What comes back.
  public var results: [Result]
  /// Whether it changes something in the accessory that must not change by mistake: the settings of a battery, the output of
  /// an inverter. Such a command needs [two permissions](WriteRules).
  public var isWrite: Bool

  /// A command of these parts.
  public init(
    _ name: String, _ summary: String, _ arguments: [Argument] = [], results: [Result] = [], isWrite: Bool = false
  ) {
    self.isWrite = isWrite
    self.name = name
    self.summary = summary
    self.arguments = arguments
    self.results = results
  }

  /// One argument.
  public struct Argument: Sendable, Hashable {
    /// What stands in front of the equals sign.
    public var name: String
    /// What may stand behind it.
    public var kind: Kind
    /// In what a number is counted.
    public var unit: String?
    /// What it is when it is left out; nil when it must not be.
    public var standard: CommandValue?

    /// An argument of these parts.
    public init(_ name: String, _ kind: Kind, unit: String? = nil, standard: CommandValue? = nil) {
      self.name = name
      self.kind = kind
      self.unit = unit
      self.standard = standard
    }
  }

  /// What an argument may be.
  public enum Kind: Sendable, Hashable {
    /// A whole number within bounds, in decimal.
    case whole(ClosedRange<Int>)
    /// One of these words, whatever the case of their letters.
    case choice([String])
    /// Some of these words, at least one, with commas between them.
    case choices([String])
    /// A text of at most so many bytes.
    case text(Int)
    /// Bytes in hexadecimal, at most so many.
    case bytes(Int)
    /// yes or no.
    case flag
  }

  /// One thing that comes back.
  public struct Result: Sendable, Hashable {
    /// What it is called.
    public var name: String
    /// In what it is counted.
    public var unit: String?

    /// A result of these parts.
    public init(_ name: String, unit: String? = nil) {
      self.name = name
      self.unit = unit
    }
  }
}

/// The value of an argument or a result.
public typealias CommandValue = PlainValue

/// A command with its arguments, all of which are as its description wants them.
public struct CommandCall: Sendable, Hashable {
  /// What is to be done.
  public let command: CommandDescription
  /// What its arguments are, also those that were left out and have a standard value.
  public let values: [String: CommandValue]
  /// Whether it may change something in the accessory. Drivers refuse a write without that.
  public private(set) var isPermitted = false

  /// A call of these parts, which may not change anything.
  init(command: CommandDescription, values: [String: CommandValue]) { (self.command, self.values) = (command, values) }

  /// The same, which may change something. `DeviceOpener`'s accessories do this by themselves where they are opened to write;
  /// it is for who opens a driver's own type, and so makes sure in another way that this is wanted.
  public func permitted() -> CommandCall {
    var call = self
    call.isPermitted = true
    return call
  }

  /// The whole number of an argument; 0 when there is no such.
  public func whole(_ name: String) -> Int { if case .whole(let value)? = values[name] { value } else { 0 } }

  /// The text, or the word that was chosen; "" when there is no such.
  public func text(_ name: String) -> String { if case .text(let value)? = values[name] { value } else { "" } }

  /// The words that were chosen.
  public func words(_ name: String) -> [String] {
    guard case .list(let list)? = values[name] else { return [] }
    return list.compactMap { if case .text(let word) = $0 { word } else { nil } }
  }

  /// The bytes.
  public func bytes(_ name: String) -> [UInt8] { if case .bytes(let value)? = values[name] { value } else { [] } }

  /// Whether it is yes.
  public func flag(_ name: String) -> Bool { values[name] == .flag(true) }
}

/// What a command was answered: as many values as it has results.
public struct CommandReply: Sendable, Hashable {
  /// What was done.
  public var command: CommandDescription
  /// What came back.
  public var values: [CommandValue]

  /// The answer to a command.
  public init(_ command: CommandDescription, _ values: [CommandValue] = []) {
    self.command = command
    self.values = values
  }
}
