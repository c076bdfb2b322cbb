// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import ArgumentParser
import CommandOutput

/// `--generate-manual FOLDER` writes the manual's pages, for `make man`. Like `--generate-completion-script` it isn't
/// in the help.
enum ManualCommand {
  /// The folder that the command line names; nil without the option.
  static func folder(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String? {
    arguments.count == 2 && arguments[0] == "--generate-manual" ? arguments[1] : nil
  }

  /// Writes the pages into a folder, and creates the folder if it doesn't exist.
  static func write(into folder: String) throws(AccessoryError) {
    guard let document = try? JSON(Array(BridgeCLI._dumpHelp().utf8)),
      let manual = ManualPages(
        document, topics: HelpTopic.allCases.compactMap { try? JSON(Array($0.declaration.utf8)) },
        usages: usages(BridgeCLI.self, []).merging(HelpTopic.usages) { $1 }, date: ManualDate.text)
    else { throw AccessoryError(.ioFailure, "this bridge-cli can't list its commands") }
    try manual.write(into: folder)
  }

  /// The usage texts that commands declare themselves, by the commands' names.
  private static func usages(_ command: any ParsableCommand.Type, _ parents: [String]) -> [String: String] {
    let path = parents + [command._commandName]
    let own = command.configuration.usage.map { [path.joined(separator: " "): $0] } ?? [:]
    return command.configuration.subcommands.reduce(into: own) { all, next in
      all.merge(usages(next, path)) { $1 }
    }
  }
}
