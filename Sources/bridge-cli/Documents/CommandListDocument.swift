// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// The commands of a driver, with their arguments.
struct CommandListDocument: Encodable {
  struct Command: Encodable {
    struct Argument: Encodable {
      let name, form: String
      let unit: String?
      let standard: PlainValue?
    }

    let name, summary: String
    let arguments: [Argument]
    let results: [CommandDescription.Result]
    /// Whether the command changes something in the accessory.
    let write: Bool
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.commandList
  let driver: String
  let commands: [Command]

  init(_ driver: String, _ commands: [CommandDescription]) {
    self.driver = driver
    self.commands = commands.map { command in
      Command(
        name: command.name, summary: command.summary,
        arguments: command.arguments.map {
          .init(
            name: $0.name, form: $0.kind.shortForm, unit: $0.unit,
            standard: $0.defaultValue)
        }, results: command.results, write: command.isWrite)
    }
  }
}
