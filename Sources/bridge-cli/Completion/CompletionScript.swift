// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The completion script of a shell. ArgumentParser's script completes either the command's own words or files. This
/// one falls back to files where no word fits, since a device or a description may be a path.
enum CompletionScript {
  /// The script that the command line asks for; nil when it doesn't ask, or when the shell is unknown.
  static func wanted(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String? {
    let option = "--generate-completion-script"
    if arguments.count == 2, arguments[0] == option { return CompletionShell(rawValue: arguments[1]).map(text) }
    if arguments.count == 1, arguments[0].hasPrefix(option + "=") {
      return CompletionShell(rawValue: String(arguments[0].dropFirst(option.count + 1))).map(text)
    }
    return nil
  }

  static func text(for shell: CompletionShell) -> String {
    let lines = BridgeCLI.completionScript(for: shell).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.flatMap { withFiles(String($0), shell) }.joined(separator: "\n")
  }

  private static func withFiles(_ line: String, _ shell: CompletionShell) -> [String] {
    switch shell {
    case .bash where line.contains(" ---completion "):
      // COMPREPLY also contains options, while one is being typed; then files aren't offered.
      let blanks = line.prefix { $0 == " " }
      return [line, #"\#(blanks)[[ "${#COMPREPLY[@]}" -gt 0 ]] || __bridge-cli_add_completions -f"#]
    case .zsh where line.contains(" ---completion "):
      return [
        line.replacing(
          #"_cursor_index_in_current_word)"}"#,
          with: #"_cursor_index_in_current_word)";(( compstate[nmatches] )) || _files}"#)
      ]
    case .fish where line == "    command $tokens[1] $argv $tokens":
      return [
        "    set -l found (command $tokens[1] $argv $tokens)", "    if test (count $found) -gt 0",
        "        printf %s\\\\n $found", "    else", "        __fish_complete_path (commandline -ct)", "    end",
      ]
    default: return [line]
    }
  }
}
