// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

/// Finds names of commands that don't exist. ArgumentParser would only say "unexpected argument", and show the help of
/// another command.
enum CommandNames {
  /// Throws `UsageError` for a name that no command has, with the one that was probably meant.
  static func check(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws(UsageError) {
    var command: any ParsableCommand.Type = BridgeCLI.self
    var path = BridgeCLI.name
    var words = arguments[...]
    let isHelp = words.first == "help"
    if isHelp { words = words.dropFirst() }
    while let word = words.popFirst(), !word.hasPrefix("-") {
      let commands = command.configuration.subcommands
      // What isn't a command's name is its argument.
      if commands.isEmpty {
        if isHelp { throw UsageError("\(path) has no commands of its own: \(path) --help") }
        return
      }
      let names = commands.map { $0._commandName }
      guard let place = names.firstIndex(of: word) else { throw UsageError(advice(word, among: names, of: path)) }
      command = commands[place]
      path += " " + word
    }
  }

  /// The command that a request for help is about: the last one that is named.
  static func command(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> any ParsableCommand.Type {
    var command: any ParsableCommand.Type = BridgeCLI.self
    for word in arguments.first == "help" ? arguments[1...] : arguments[...] {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
      command = next
    }
    return command
  }

  private static func advice(_ word: String, among names: [String], of path: String) -> String {
    let begin = "there is no command \(path) \(word): "
    if path == "\(BridgeCLI.name) simulate", DescriptionLibrary.builtIn.names.contains(word) {
      return begin + "\(path) --profile \(word) pretends to be such an accessory"
    }
    if let nearest = NearestWord.find(word, among: names), nearest.isLikely {
      return begin + "did you mean \(path) \(nearest.word)?"
    }
    return begin + "\(path) --help shows what there is"
  }
}
