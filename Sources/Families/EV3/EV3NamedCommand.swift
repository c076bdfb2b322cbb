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

  private init(
    _ description: CommandDescription, _ make: @escaping @Sendable (CommandCall) -> EV3Command<[CommandValue]>
  ) {
    self.description = description
    add = { call, batch throws(EV3MessageError) in
      let place = try batch.add(make(call))
      return { reply in reply[place] }
    }
  }

  /// A command that is one instruction of the table. `parameters` has what the caller gives, in the instruction's order; the results
  /// are where the table has them, and of type `kind` where it has none. With `isWaiting` the reply comes only after something has
  /// happened.
  init(
    _ name: String, _ summary: String, _ opcode: UInt8, _ subcode: UInt8? = nil, _ parameters: [EV3NamedParameter] = [],
    _ results: [EV3NamedResult] = [], kind: EV3ResultKind = .int8, isWaiting: Bool = false
  ) {
    let operation = EV3Operation.of(opcode, subcode)
    let arguments = (parameters.filter { !$0.isLast } + parameters.filter(\.isLast)).compactMap(\.argument)
    self.init(CommandDescription(name, summary, arguments, results: results.map(\.description))) { call in
      EV3Command(
        [EV3Step(opcode, subcode, Self.arguments(operation, parameters.map { $0.value(call) }, kind))],
        isWaiting: isWaiting
      ) { reply in results.enumerated().map { $1.value(reply, $0) } }
    }
  }

  /// The given values, and places for the results.
  private static func arguments(
    _ operation: EV3Operation, _ given: [EV3Argument], _ format: EV3ResultKind
  ) -> [EV3Argument] {
    var rest = given[...]
    var arguments: [EV3Argument] = []
    for parameter in operation.parameters {
      switch parameter {
      case .result(let kind): arguments.append(.result(kind))
      case .bytes:
        // The parameter in front of it is their count.
        guard case .number(let count)? = arguments.last else { break }
        arguments.append(.bytes(count))
      case .results(let kind):
        guard case .checked(_, let count, let range)? = arguments.last, range.contains(count) else { break }
        arguments += Array(repeating: .result(kind ?? format), count: count)
      case .int8, .int16, .int32, .text: if let next = rest.popFirst() { arguments.append(next) }
      }
    }
    return arguments
  }

  /// A command of several instructions, or of one that its arguments choose.
  init<Reply>(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument],
    results: [CommandDescription.Result] = [], _ make: @escaping @Sendable (CommandCall) -> EV3Command<Reply>,
    _ show: @escaping @Sendable (Reply) -> [CommandValue] = { _ in [] }
  ) {
    self.init(CommandDescription(name, summary, arguments, results: results)) { call in
      let command = make(call)
      return EV3Command(
        command.steps, localByteCount: command.localByteCount, isWaiting: command.isWaiting
      ) { show(command.read($0)) }
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
