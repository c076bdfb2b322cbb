// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import ArgumentParser
import CommandOutput
import Glibc
import SystemPackage

/// `--generate-manual FOLDER`: the manual's pages, for `make man`. It isn't in the help, as little as
/// `--generate-completion-script`.
enum ManualCommand {
  /// The folder into which the command line asks for pages; nil when it doesn't.
  static func folder(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String? {
    arguments.count == 2 && arguments[0] == "--generate-manual" ? arguments[1] : nil
  }

  /// Writes the pages into a folder, which is made if it isn't there.
  static func write(into folder: String) throws(AccessoryError) {
    guard let document = try? JSON(Array(BridgeCLI._dumpHelp().utf8)),
      let manual = ManualPages(document, usages: usages(BridgeCLI.self, []), date: date)
    else { throw AccessoryError(.ioFailure, "this bridge-cli can't tell what its commands are") }
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw AccessoryError(errno: Errno(rawValue: errno), "making \(folder)")
    }
    for page in manual.pages {
      try LocalFile.write(Array(page.text.utf8), to: folder + "/" + page.file, replacing: true)
    }
  }

  /// The usages that commands write themselves, by their names.
  private static func usages(_ command: any ParsableCommand.Type, _ parents: [String]) -> [String: String] {
    let path = parents + [command._commandName]
    let own = command.configuration.usage.map { [path.joined(separator: " "): $0] } ?? [:]
    return command.configuration.subcommands.reduce(into: own) { all, next in
      all.merge(usages(next, path)) { $1 }
    }
  }

  /// "November 22, 2026": today, or what SOURCE_DATE_EPOCH says, so that a package can be made again to the byte.
  private static var date: String {
    let wanted = getenv("SOURCE_DATE_EPOCH").flatMap { Int(String(cString: $0)) }
    var (seconds, parts) = (wanted ?? time(nil), tm())
    gmtime_r(&seconds, &parts)
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ]
    return "\(months[Int(parts.tm_mon)]) \(parts.tm_mday), \(1_900 + Int(parts.tm_year))"
  }
}
