// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput

/// A command's help. ArgumentParser writes each paragraph as one line; `HelpLayout` wraps it for the screen.
enum HelpScreen {
  /// Whether ArgumentParser's text is a command's help.
  static func isHelp(_ text: String) -> Bool { text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") }

  /// The help that the command line asks for.
  static func text(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    let commands = BridgeFleet.configuration.subcommands
    let command = words.first.flatMap { word in commands.first { $0._commandName == word } } ?? BridgeFleet.self
    let text = BridgeFleet.helpMessage(for: command, columns: widest)
    return HelpLayout.text(text, columns: Output.columns ?? 80)
  }

  /// Wider than any paragraph, so that ArgumentParser doesn't wrap it.
  private static let widest = 100_000
}
