// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// Decides which commands clients of `readings.socket` may perform. All these decisions are made here, based only on the
/// configuration's entries.
package struct CommandRules: Sendable, Hashable {
  /// What identifies an accessory in rules.
  struct Subject: Sendable, Hashable {
    var id: String
    var serial, profile, driver: String?
  }

  /// The entries of the configuration. No two are for the same command of the same accessories.
  package let permissions: [CommandPermission]
  /// The configuration's file, for errors; nil without one.
  package let file: String?

  /// Without entries, no command is permitted.
  package init(_ permissions: [CommandPermission] = [], file: String? = nil) {
    (self.permissions, self.file) = (permissions, file)
  }

  /// The entry for a command of an accessory; nil if there is none. An entry for the accessory itself takes precedence over one for
  /// its profile, and that over one for its driver.
  func permission(for command: String, of subject: Subject) -> CommandPermission? {
    let candidates = permissions.filter { $0.command == command }
    let ranked: [(CommandPermission) -> Bool] = [
      { [.accessory(subject.id), subject.serial.map { .accessory($0) }].contains($0.subject) },
      { $0.subject == subject.profile.map { .profile($0) } }, { $0.subject == subject.driver.map { .driver($0) } },
    ]
    return ranked.lazy.compactMap { candidates.first(where: $0) }.first
  }

  /// The permitted commands, with their permitted arguments and limits.
  func listed(_ commands: [CommandDescription], of subject: Subject) -> [CommandDescription] {
    commands.compactMap { command in permission(for: command.name, of: subject)?.narrowed(command) }
  }

  /// The entries that permit these calls, one for each. `given` are the names of the arguments in each call. Throws
  /// `permissionDenied` if one of the calls isn't permitted. `label` is the accessory's name in errors.
  func permissions(
    for calls: [(call: CommandCall, given: [String])], of subject: Subject, label: String
  ) throws(AccessoryError) -> [CommandPermission] {
    var granted: [CommandPermission] = []
    for (call, given) in calls {
      let name = call.command.name
      let place = file ?? "the service's configuration"
      guard let permission = permission(for: name, of: subject) else {
        throw AccessoryError(
          .permissionDenied,
          "\(label): \(name) is not permitted to clients that may only read: \(place) has no entry for it under commands"
        )
      }
      if let reason = permission.refusal(of: call, given: given) {
        throw AccessoryError(
          .permissionDenied,
          "\(label): this \(name) is not permitted to clients that may only read: \(reason) (\(place))")
      }
      granted.append(permission)
    }
    return granted
  }
}
