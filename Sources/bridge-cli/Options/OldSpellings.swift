// SPDX-License-Identifier: Apache-2.0

import CommandOutput

/// Commands that have another name now. Their old names work for one more release, and are in no help.
enum OldSpellings {
  /// The words of the command line, without the program's name, with current names of commands.
  static let words = renewed(Array(CommandLine.arguments.dropFirst()))

  /// A command's old and current words; the options come first after the current words.
  private struct Move {
    let old, new: [String]
    var options: [String] = []
  }

  private static let moves = [
    Move(old: ["ls"], new: ["file", "ls"]), Move(old: ["get-file"], new: ["file", "get"]),
    Move(old: ["send-file"], new: ["file", "send"]), Move(old: ["rm"], new: ["file", "rm"]),
    Move(old: ["mkdir"], new: ["file", "mkdir"]),
    Move(old: ["profile", "check"], new: ["check"], options: ["--as", "profile"]),
    Move(old: ["service", "check"], new: ["check"], options: ["--as", "service"]),
    Move(old: ["share", "check"], new: ["check"], options: ["--as", "share"]),
    Move(old: ["share"], new: ["help", "check"]),
    Move(old: ["service"], new: ["info"], options: ["--service"]),
    Move(old: ["detach"], new: ["attach"], options: ["--end"]),
    Move(old: ["identify"], new: ["profile", "identify"]),
    Move(old: ["udev-rules"], new: ["profile", "udev-rules"]),
    Move(old: ["scan"], new: ["bluetooth", "scan"]), Move(old: ["connect"], new: ["bluetooth", "connect"]),
    Move(old: ["remote"], new: ["bluetooth", "remote"]),
  ]

  /// The command line with current names in place of old ones.
  static func renewed(_ words: [String]) -> [String] {
    let help = words.first == "help" ? ["help"] : []
    let rest = words.dropFirst(help.count)
    guard let move = moves.first(where: { rest.starts(with: $0.old) }) else { return words }
    let others = Array(rest.dropFirst(move.old.count))
    // Help takes no options.
    if !help.isEmpty { return help + move.new.filter { $0 != "help" } + others }
    return move.new + move.options + others
  }

  /// Tells a person at a terminal the current name of the command that was typed. Programs see no difference.
  static func note(_ typed: [String] = Array(CommandLine.arguments.dropFirst())) {
    guard Style.standardError.isTerminal, typed.first != "help",
      let move = moves.first(where: { typed.starts(with: $0.old) })
    else { return }
    let option = Array(move.options.filter { $0 != "--as" }.prefix(1))
    let name = [BridgeCLI.name] + move.new.filter { $0 != "help" } + option
    let new = move.options.first == "--as" ? "\(BridgeCLI.name) check" : name.joined(separator: " ")
    Output.note(
      "\(BridgeCLI.name) \(move.old.joined(separator: " ")) is called \(new) now; the old name will be removed.")
  }
}
