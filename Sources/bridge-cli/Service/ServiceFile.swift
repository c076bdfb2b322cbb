// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import BridgeService

/// The configuration of a service, `service.yaml`.
enum ServiceFile {
  /// The rules in the file at `path`, or, if `path` is nil, in the one that is found in the usual folders; without a file
  /// there are none. The file may name the profiles in `profiles`. Throws all mistakes in it, with line and column.
  static func rules(_ path: String?, _ profiles: ProfileStore) async throws(ProfileProblems) -> CommandRules {
    try await SetupQueue(label: "configuration").run { () throws(ProfileProblems) in
      let found = if let path { try ServiceSettings.file(at: path) } else { try ServiceSettings.find() }
      guard let file = found else { return CommandRules() }
      let settings = try ServiceSettings.read(file, drivers: KnownDrivers.library, profiles: profiles.profiles)
      return CommandRules(settings.commands, file: file.path)
    }
  }

  /// The number of commands in a sentence: "no command", "3 commands".
  static func count(_ rules: CommandRules) -> String {
    switch rules.permissions.count {
    case 0: "no command"
    case 1: "1 command"
    case let count: "\(count) commands"
    }
  }
}
