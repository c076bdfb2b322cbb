// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// A command of a brick under the name that the user types.
struct EV3NamedCommand: Sendable {
  typealias Read = @Sendable (EV3BatchReply) -> [CommandValue]

  let description: CommandDescription
  /// Adds the command to a batch. Returns a closure that reads the command's results from the reply.
  let add: @Sendable (CommandCall, inout EV3Batch) throws(EV3MessageError) -> Read

  /// A command without results.
  init(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument] = [],
    _ make: @escaping @Sendable (CommandCall) -> EV3Command<Void>
  ) {
    description = CommandDescription(name, summary, arguments)
    add = { call, batch throws(EV3MessageError) in
      _ = try batch.add(make(call))
      return { _ in [] }
    }
  }

  /// A command with results.
  init<Reply>(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument] = [],
    results: [CommandDescription.Result], _ make: @escaping @Sendable (CommandCall) -> EV3Command<Reply>,
    _ show: @escaping @Sendable (Reply) -> [CommandValue]
  ) {
    description = CommandDescription(name, summary, arguments, results: results)
    add = { call, batch throws(EV3MessageError) in
      let place = try batch.add(make(call))
      return { reply in show(reply[place]) }
    }
  }
}

extension EV3Brick {
  private static let table = Dictionary(uniqueKeysWithValues: EV3NamedCommand.all.map { ($0.description.name, $0) })

  /// The commands of a brick.
  public static let commands = EV3NamedCommand.all.map(\.description)

  /// The type's `commands`.
  public func commands() -> [CommandDescription] { Self.commands }

  /// Sends commands as one batch. Throws `misconfigured` when they don't fit into one message, and what `send` throws.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var batch = EV3Batch()
    var readers: [EV3NamedCommand.Read] = []
    for call in calls {
      guard let command = Self.table[call.command.name] else {
        throw AccessoryError(.unsupported, "a brick has no command \(call.command.name)")
      }
      readers.append(try adding { () throws(EV3MessageError) in try command.add(call, &batch) })
    }
    guard isAnswered else {
      try await tell(batch)
      return calls.map { CommandReply($0.command) }
    }
    let reply = try await send(batch)
    return zip(calls, readers).map { CommandReply($0.command, $1(reply)) }
  }
}

extension CommandValue {
  static func number(_ value: Float) -> CommandValue {
    // Only as many digits as the brick's four bytes are accurate to.
    value.isFinite ? .number(Double("\(value)") ?? Double(value)) : .nothing
  }

  static func number(_ value: Float?) -> CommandValue { value.map { .number($0) } ?? .nothing }
}
