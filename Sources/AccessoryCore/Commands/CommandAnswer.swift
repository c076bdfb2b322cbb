// SPDX-License-Identifier: Apache-2.0

/// A value in an accessory's reply, with its name and unit, as JSON documents and gateways publish it.
package struct NamedValue: Encodable, Sendable, Hashable {
  /// The value's name.
  package let name: String
  /// The unit; nil where the value has none.
  package let unit: String?
  package let value: PlainValue

  package init(_ name: String, unit: String? = nil, _ value: PlainValue) {
    (self.name, self.unit, self.value) = (name, unit, value)
  }
}

/// The reply to a command, as JSON documents and gateways publish it.
package struct CommandAnswer: Encodable, Sendable, Hashable {
  /// The command's name.
  package let command: String
  /// The values, in the order of the command's description.
  package let values: [NamedValue]

  /// A reply to the command of this name.
  package init(_ command: String, _ values: [NamedValue]) { (self.command, self.values) = (command, values) }

  /// The values that came back, with their names and units from the command's description.
  package init(_ command: CommandDescription, _ values: [PlainValue]) {
    self.init(command.name, zip(command.results, values).map { NamedValue($0.name, unit: $0.unit, $1) })
  }
}
