// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import ArgumentParser
import CommandOutput

/// Checks the names of commands. ArgumentParser would only print "unexpected argument", with the help of another
/// command.
enum CommandNames {
  /// Throws `UsageError` for an unknown command's name, with a suggestion.
  static func check(_ arguments: [String] = OldSpellings.words) throws(UsageError) {
    var command: any ParsableCommand.Type = BridgeCLI.self
    var path = BridgeCLI.name
    var words = arguments[...]
    let isHelp = words.first == "help"
    if isHelp { words = words.dropFirst() }
    while let word = words.popFirst(), !word.hasPrefix("-") {
      let commands = command.configuration.subcommands
      // A command without subcommands: the word is its argument.
      if commands.isEmpty {
        if isHelp { throw UsageError("\(path) has no subcommands: see \(path) --help") }
        return
      }
      let names = commands.map { $0._commandName }
      guard let place = names.firstIndex(of: word) else { throw UsageError(advice(word, among: names, of: path)) }
      command = commands[place]
      path += " " + word
    }
  }

  /// The command whose help is requested: the last one on the command line.
  static func command(_ arguments: [String] = OldSpellings.words) -> any ParsableCommand.Type {
    var command: any ParsableCommand.Type = BridgeCLI.self
    for word in arguments.first == "help" ? arguments[1...] : arguments[...] {
      guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
      command = next
    }
    return command
  }

  private static func advice(_ word: String, among names: [String], of path: String) -> String {
    let begin = "there is no command \(path) \(word): "
    let described = path == "\(BridgeCLI.name) simulate" ? DescriptionLibrary.builtIn.names : []
    if described.contains(word) { return begin + "\(path) --profile \(word) simulates such an accessory" }
    if let nearest = NearestWord.find(word, among: names + described), nearest.isLikely {
      let isDescribed = described.contains(nearest.word)
      return begin + "did you mean \(path) \(isDescribed ? "--profile " : "")\(nearest.word)?"
    }
    return begin + "\(path) --help lists the commands"
  }
}
