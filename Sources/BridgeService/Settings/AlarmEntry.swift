// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An entry of the service's configuration: rules of alarms, and the accessories that they are for.
package struct AlarmEntry: Sendable, Hashable {
  /// The accessories; nil for all.
  package var subject: CommandPermission.Subject?
  /// The rules. No two have the same name.
  package var rules: [AlarmRule]
  /// The names of the ways by which people are told; nil for all ways.
  package var ways: [String]?

  package init(_ subject: CommandPermission.Subject?, _ rules: [AlarmRule], ways: [String]? = nil) {
    (self.subject, self.rules, self.ways) = (subject, rules, ways)
  }
}
