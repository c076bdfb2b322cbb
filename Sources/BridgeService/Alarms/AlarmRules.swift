// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// The alarm rules from the configuration and the command line. Selects those that apply to an accessory.
package struct AlarmRules: Sendable, Hashable {
  /// The entries of the configuration.
  package var entries: [AlarmEntry]
  /// The rules of the command line, for all accessories.
  package var typed: [AlarmRule]

  /// Without entries and rules, only the rules of profiles apply.
  package init(_ entries: [AlarmEntry] = [], typed: [AlarmRule] = []) { (self.entries, self.typed) = (entries, typed) }

  /// The rules for an accessory, and the number of rules beyond the limit per accessory. Of several rules with the same name, only
  /// the first of this list applies: from the command line; from the configuration for the accessory itself, for its profile, for its
  /// driver, for all; from its profile's file.
  func rules(for subject: CommandRules.Subject, _ profile: Profile?) -> (rules: [AlarmRule], tooMany: Int) {
    let configured = entries(for: subject).flatMap(\.rules)
    var names: Set<String> = []
    let rules = (typed + configured + (profile?.alarms ?? [])).filter { names.insert($0.name).inserted }
    return (Array(rules.prefix(AlarmRule.countLimit)), max(0, rules.count - AlarmRule.countLimit))
  }

  /// The entries for an accessory: those for itself, for its profile, for its driver, for all.
  private func entries(for subject: CommandRules.Subject) -> [AlarmEntry] {
    var subjects: [[CommandPermission.Subject?]] = [[.accessory(subject.id)], [], [], [nil]]
    if let serial = subject.serial { subjects[0].append(.accessory(serial)) }
    if let profile = subject.profile { subjects[1].append(.profile(profile)) }
    if let driver = subject.driver { subjects[2].append(.driver(driver)) }
    return subjects.flatMap { meant in entries.filter { meant.contains($0.subject) } }
  }

  /// The names of the ways by which people are told of an accessory's alarm with this name; nil for all ways. An alarm of a profile's
  /// file or of the command line is told by all.
  package func ways(
    ofAlarm name: String, id: String, serial: String?, profile: String?, driver: String?
  ) -> [String]? {
    let subject = CommandRules.Subject(id: id, serial: serial, profile: profile, driver: driver)
    return entries(for: subject).first { $0.rules.contains { $0.name == name } }?.ways
  }
}
