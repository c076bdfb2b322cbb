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
    let script = lines.flatMap { withFiles(String($0), shell) }.joined(separator: "\n")
    return shell == .bash ? script + joiningWords : script
  }

  /// bash splits words at colons and at signs, which addresses of devices contain. This function joins the words again,
  /// completes, and offers only what comes after the last of these characters, because bash replaces only that part.
  private static let joiningWords = #"""

    _bridge-cli_joining_words() {
        local -a words=()
        local -i index current=0
        local line=$COMP_LINE word rest
        for index in "${!COMP_WORDS[@]}"; do
            word=${COMP_WORDS[index]}
            rest=${line#"${line%%[![:space:]]*}"}
            if [[ index -gt 0 && -n $word && $rest == "$line" && ( $word == [:@]* || ${COMP_WORDS[index - 1]} == *[:@] ) ]]; then
                words[${#words[@]}-1]+=$word
            else
                words+=("$word")
            fi
            line=${rest#"$word"}
            [[ index -eq COMP_CWORD ]] && current=$((${#words[@]} - 1))
        done
        COMP_WORDS=("${words[@]}") COMP_CWORD=$current
        local whole=${words[current]} offered
        _bridge-cli bridge-cli "$whole" "${words[current - 1]}"
        local last=$whole
        [[ $COMP_WORDBREAKS == *:* ]] && last=${last##*:}
        [[ $COMP_WORDBREAKS == *@* ]] && last=${last##*@}
        for offered in "${!COMPREPLY[@]}"; do COMPREPLY[offered]=${COMPREPLY[offered]#"${whole%"$last"}"}; done
    }

    complete -o filenames -F _bridge-cli_joining_words bridge-cli

    """#

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
