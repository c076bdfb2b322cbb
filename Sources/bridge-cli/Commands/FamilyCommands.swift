// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import ArgumentParser
import CommandOutput

/// Commands of a family, behind their common name.
struct GroupOfCommands<Group: FamilyCommandGroup>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Group.name, abstract: Group.abstract, discussion: Group.discussion,
      subcommands: Group.commands.map { command($0) })
  }

  private static func command<Command: FamilyCommand>(_ command: Command.Type) -> any ParsableCommand.Type {
    CommandOfFamily<Command>.self
  }
}

/// A command of a family that needs no accessory, whose options are values.
struct CommandOfFamily<Command: FamilyCommand>: AsyncParsableCommand, JSONCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: Command.name, abstract: Command.abstract, discussion: Command.discussion)
  }

  @OptionGroup var settings: ValueOptions<Command>
  @OptionGroup var output: OutputOptions

  func validate() throws { try settings.check() }

  func run() async throws {
    let report: CommandReport
    do {
      report = try await settings.values.run()
    } catch let error as CommandMisuse {
      throw UsageError(error.description)
    }
    if output.json { return Output.json(FamilyDocument(report: report)) }
    for part in report.parts {
      switch part {
      case .line(let line): Output.line(line)
      case .table(let heads, let rows):
        var table = Table(heads)
        for row in rows { table.add(row) }
        table.lines(columns: Output.columns).forEach(Output.line)
      }
    }
  }
}

/// What a command of a family shows, in JSON.
private struct FamilyDocument: Encodable {
  private enum CodingKeys: CodingKey {
    case schema, document
  }

  let report: CommandReport

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(DocumentSchema.name, forKey: .schema)
    try fields.encode(DocumentKind(rawValue: report.document), forKey: .document)
    try report.fields.encode(to: encoder)
  }
}
