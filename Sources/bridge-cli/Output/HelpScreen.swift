// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CommandOutput
import Glibc

/// A command's help. ArgumentParser writes each paragraph as one line; `HelpLayout` wraps it for the screen.
enum HelpScreen {
  /// Whether ArgumentParser's text is a command's help.
  static func isHelp(_ text: String) -> Bool { text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") }

  /// The help that the command line asks for.
  static func text() -> String {
    let isWhole = OldSpellings.words.contains("--help-hidden")
    let text = BridgeCLI.helpMessage(for: CommandNames.command(), includeHidden: isWhole, columns: widest)
    return HelpLayout.text(text, columns: TerminalSize.columns(of: STDOUT_FILENO) ?? 80)
  }

  /// Wider than any paragraph, so that ArgumentParser doesn't wrap it.
  static let widest = 100_000
}
