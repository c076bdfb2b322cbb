// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Determines from a value's name whether it belongs to the battery, the status or the identity.
package enum DescribedPart {
  package static let battery = "battery."
  package static let status = "status."
  package static let identity = "identity."

  package static let identityNames: Set<String> = ["manufacturer", "name", "model", "serial", "firmware", "hardware"]

  /// The battery's quantity with this name; nil for other names.
  package static func ofBattery(_ name: String) -> Vocabulary.Described? {
    name.hasPrefix(battery) ? Vocabulary.battery(described: name.dropFirst(battery.count)) : nil
  }

  /// A name that isn't in the vocabulary is a value.
  package static func isBattery(_ name: String) -> Bool { ofBattery(name) != nil }
  package static func isStatus(_ name: String) -> Bool {
    name.hasPrefix(status) && Vocabulary.statusNames.contains(name.dropFirst(status.count))
  }
  package static func isIdentity(_ name: String) -> Bool {
    name.hasPrefix(identity) && identityNames.contains(String(name.dropFirst(identity.count)))
  }
  /// Whether the name belongs to none of these, or is that of a value, too.
  @Sendable package static func isValue(_ name: String) -> Bool {
    ofBattery(name).map { $0.term.described?.isValueToo == true } ?? !(isStatus(name) || isIdentity(name))
  }
}
