// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command of a family that needs no accessory, such as one that changes the user's settings.
package protocol FamilyCommand: CommandSettings {
  /// Its name on the command line.
  static var name: String { get }
  /// What it does, as a sentence.
  static var abstract: String { get }
  /// More about it, and examples.
  static var discussion: String { get }

  /// Does it. Throws `AccessoryError`, and `CommandMisuse` where the user has to say something else.
  func run() async throws -> CommandReport
}

/// Commands of a family with a name of their own.
package protocol FamilyCommandGroup: SendableMetatype {
  /// The name, before that of a command.
  static var name: String { get }
  /// What they do, as a sentence.
  static var abstract: String { get }
  /// Examples.
  static var discussion: String { get }
  /// The commands.
  static var commands: [any FamilyCommand.Type] { get }
}

/// What a user has said that can't be done.
package struct CommandMisuse: Error, CustomStringConvertible {
  /// What is wrong, as a sentence without its period.
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// What a command of a family shows.
package struct CommandReport: Sendable {
  /// A part of what people see. Text from outside is escaped.
  package enum Part: Sendable {
    case line(String)
    /// The heads of the columns, and the rows.
    case table([String], [[String]])
  }

  /// What people see.
  package let parts: [Part]
  /// The kind of the JSON document.
  package let document: String
  /// The document's own fields.
  package let fields: any Encodable & Sendable

  package init(_ parts: [Part], document: String, _ fields: any Encodable & Sendable) {
    (self.parts, self.document, self.fields) = (parts, document, fields)
  }
}
