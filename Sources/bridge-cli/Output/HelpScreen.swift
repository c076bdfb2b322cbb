// SPDX-License-Identifier: Apache-2.0

import CommandOutput
import Glibc

/// A command's help. ArgumentParser makes it, in lines as long as they come; how they lie on the screen is ours.
enum HelpScreen {
  /// Whether what ArgumentParser wants to print is a command's help.
  static func isHelp(_ text: String) -> Bool { text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") }

  /// The help that the command line asks for.
  static func text() -> String {
    let text = BridgeCLI.helpMessage(for: CommandNames.command(), columns: widest)
    return HelpLayout.text(text, columns: TerminalSize.columns(of: STDOUT_FILENO) ?? 80)
  }

  /// More than any paragraph has, so that it isn't broken twice.
  private static let widest = 100_000
}
