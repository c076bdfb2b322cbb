// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command requested by a form.
struct CommandForm: Sendable {
  /// The names of the fields. Fields of arguments end with the argument's name.
  static let (form, command, confirmation, argument) = ("form", "command", "confirm", "argument.")

  let command: CommandDescription
  let arguments: [String: String]
  /// Whether the name was typed to confirm, if that is required.
  let isConfirmed: Bool

  /// Reads a form for one of these commands. Nil if it names none of them, or has fields that the command doesn't have.
  init?(_ fields: FormFields, among commands: [CommandDescription]) {
    guard let name = fields[Self.command], let command = commands.first(where: { $0.name == name }) else { return nil }
    let names = Set(command.arguments.map { Self.argument + $0.name })
    guard fields.names.allSatisfy({ names.contains($0) || [Self.form, Self.command, Self.confirmation].contains($0) })
    else { return nil }
    var arguments: [String: String] = [:]
    for argument in command.arguments {
      // A list has one field per word.
      let text = fields.all(Self.argument + argument.name).joined(separator: ",")
      if text.isEmpty, argument.defaultValue != nil { continue }
      arguments[argument.name] = text
    }
    (self.command, self.arguments) = (command, arguments)
    isConfirmed = !command.isWrite || fields[Self.confirmation] == name
  }

  /// "output to=off": the command as a person types it.
  var text: String {
    ([command.name]
      + command.arguments.compactMap { argument in arguments[argument.name].map { "\(argument.name)=\($0)" } })
      .joined(separator: " ")
  }
}

/// The outcome of a command.
struct CommandOutcome: Sendable {
  /// The outcome in words. Not escaped.
  let text: String
  let isPerformed: Bool

  /// A performed command and its answer.
  init(_ form: CommandForm, answer: String) {
    text = "\(form.text) was performed" + (answer.isEmpty ? "." : ": \(answer)")
    isPerformed = true
  }

  /// A command that wasn't confirmed, because its name wasn't typed.
  init(unconfirmed form: CommandForm) {
    text = "\(form.text) wasn't performed: it changes something, so its name, \(form.command.name), must be typed."
    isPerformed = false
  }

  /// A failed command.
  init(_ form: CommandForm, _ error: AccessoryError) {
    let isUntouched =
      switch error.kind {
      case .busy, .permissionDenied, .notFound, .refused, .unsupported, .misconfigured: true
      case .disconnected, .timedOut, .cancelled, .badData, .ioFailure: error.isNoService
      }
    let what = isUntouched ? "\(form.text) wasn't performed" : "Nobody knows whether \(form.text) was performed"
    text = "\(what): \(error.message)"
    isPerformed = false
  }
}
