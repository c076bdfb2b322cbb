// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// A command of a module under the name that the user types.
struct HM10NamedCommand: Sendable {
  typealias Run = @Sendable (HM10Module, CommandCall) async throws(AccessoryError) -> [CommandValue]

  let description: CommandDescription
  let run: Run

  init(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument] = [],
    results: [CommandDescription.Result] = [], _ run: @escaping Run
  ) {
    description = CommandDescription(name, summary, arguments, results: results)
    self.run = run
  }

  /// A command without results.
  init(_ name: String, _ summary: String, _ command: HM10Command) {
    self.init(name, summary) { module, _ throws(AccessoryError) in
      try await module.ask(command)
      return []
    }
  }

  /// A command whose result is a text.
  init(
    _ name: String, _ summary: String, text: @escaping @Sendable (HM10Module) async throws(AccessoryError) -> String
  ) {
    self.init(name, summary, results: [.init("text")]) { module, _ throws(AccessoryError) in
      [.text(try await text(module))]
    }
  }
}

extension HM10Module {
  private static let table = Dictionary(uniqueKeysWithValues: HM10NamedCommand.all.map { ($0.description.name, $0) })

  /// The commands of a module.
  public static let commands = HM10NamedCommand.all.map(\.description)

  /// The type's `commands`.
  public func commands() -> [CommandDescription] { Self.commands }

  /// Carries out commands one after another. Each is sent when the one before was answered, because a module has no
  /// batches. Throws what `ask` throws.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    for call in calls {
      guard let command = Self.table[call.command.name] else {
        throw AccessoryError(.unsupported, "an HM-10 has no command \(call.command.name)")
      }
      let values = try await command.run(self, call)
      replies.append(CommandReply(call.command, isAnswered ? values : []))
    }
    return replies
  }
}
