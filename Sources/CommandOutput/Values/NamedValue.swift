// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A value that an accessory answered, with its name and its unit.
package struct NamedValue: Sendable, Hashable {
  /// What it is called.
  package let name: String
  /// Its unit; nil where it has none.
  package let unit: String?
  /// The value.
  package let value: PlainValue

  /// A value of these parts.
  package init(_ name: String, unit: String? = nil, _ value: PlainValue) {
    self.name = name
    self.unit = unit
    self.value = value
  }
}

/// What a command was answered.
package struct CommandAnswer: Sendable, Hashable {
  /// The command's name.
  package let command: String
  /// What came, in the order that the command describes.
  package let values: [NamedValue]

  /// An answer of these parts.
  package init(_ command: String, _ values: [NamedValue]) {
    self.command = command
    self.values = values
  }
}
