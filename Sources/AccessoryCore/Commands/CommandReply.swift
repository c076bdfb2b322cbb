// SPDX-License-Identifier: Apache-2.0

/// The reply to a command. It has one value for each of the command's results, or none if replies weren't awaited.
public struct CommandReply: Codable, Sendable, Hashable {
  /// The name of the command that was carried out.
  public var command: String
  /// The values that came back.
  public var values: [PlainValue]

  /// A reply to this command.
  public init(_ command: CommandDescription, _ values: [PlainValue] = []) {
    (self.command, self.values) = (command.name, values)
  }
}
