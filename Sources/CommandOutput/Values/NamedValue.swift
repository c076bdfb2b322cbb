// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A value in an accessory's reply, with its name and unit.
package struct NamedValue: Sendable, Hashable {
  /// The value's name.
  package let name: String
  /// The unit; nil where the value has none.
  package let unit: String?
  /// The value.
  package let value: PlainValue

  /// A value with its name and unit.
  package init(_ name: String, unit: String? = nil, _ value: PlainValue) {
    self.name = name
    self.unit = unit
    self.value = value
  }
}

/// The reply to a command.
package struct CommandAnswer: Sendable, Hashable {
  /// The command's name.
  package let command: String
  /// The values, in the order of the command's description.
  package let values: [NamedValue]

  /// A reply to the command of this name.
  package init(_ command: String, _ values: [NamedValue]) {
    self.command = command
    self.values = values
  }
}
