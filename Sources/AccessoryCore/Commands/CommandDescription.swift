// SPDX-License-Identifier: Apache-2.0

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
  /// output of an inverter. Such a command needs two permissions.
  public var isWrite: Bool
  /// The values of the accessory that the command changes, where its protocol tells.
  public var settings: [Setting]

  /// A command with these properties.
  public init(
    _ name: String, _ summary: String, _ arguments: [Argument] = [], results: [Result] = [], isWrite: Bool = false,
    settings: [Setting] = []
  ) {
    (self.isWrite, self.settings) = (isWrite, settings)
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
  public struct Result: Codable, Sendable, Hashable {
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
