// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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
    if !isHelp, words.first?.hasPrefix("-") == true { try checkOrder(words) }
    while let word = words.popFirst(), !word.hasPrefix("-") {
      let commands = command.configuration.subcommands
      // A command without subcommands: the word is its argument.
      if commands.isEmpty {
        if isHelp { throw UsageError("\(path) has no subcommands: see \(path) --help") }
        return
      }
      let names = commands.map { $0._commandName }
      guard let place = names.firstIndex(of: word) else {
        if !isHelp, path == BridgeCLI.name { try checkOrder(arguments[...]) }
        // A kind that a file describes: the command simulates it.
        if command == Simulate.self {
          if SimulatedKinds.isDescribed(word) { return }
          throw SimulatedKinds.missing(word)
        }
        throw UsageError(advice(word, among: names, of: path, isHelp: isHelp))
      }
      command = commands[place]
      path += " " + word
    }
  }

  /// How options begin that need no command.
  private static let rootOptions = ["--help", "--version", "---", "--generate", "--experimental"]

  /// Throws where the command isn't the first word, but follows its options or its accessory.
  private static func checkOrder(_ words: ArraySlice<String>) throws(UsageError) {
    let names = BridgeCLI.configuration.subcommands.map { $0._commandName }
    guard let first = words.first, !names.contains(first), NearestWord.find(first, among: names)?.isLikely != true,
      let command = words.dropFirst().first(where: { names.contains($0) }),
      !first.hasPrefix("-") || first.hasPrefix("--") && !Self.rootOptions.contains(where: first.hasPrefix)
    else { return }
    let others = words.filter { $0 != command }.joined(separator: " ")
    throw UsageError("the command comes first: \(BridgeCLI.name) \(command) \(SafeText.escape(others, limit: 200))")
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

  private static func advice(_ word: String, among names: [String], of path: String, isHelp: Bool) -> String {
    // Old spellings aren't offered; the topics of help are words after `help` alone.
    let isFirst = path == BridgeCLI.name
    let topics = isHelp && isFirst ? HelpTopic.allCases.map(\.rawValue) : []
    let known = names.map { "\(path) \($0)" } + topics.map { "\(path) help \($0)" }
    let words = names + topics
    let likely = NearestWord.find(word, among: words)?.likely.compactMap { one in
      words.firstIndex(of: one).map { known[$0] }
    }
    let question = likely.flatMap { $0.isEmpty ? nil : $0.joined(separator: " or ") }.map { "did you mean \($0)?" }
    return "there is no command \(path) \(word): \(question ?? "\(path) --help lists the commands")"
  }
}
