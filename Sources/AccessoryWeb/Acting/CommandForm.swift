// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command that somebody wants to be performed, as a form says it.
struct CommandForm: Sendable {
  /// The names of the fields. Those of arguments have the argument's name after them.
  static let (form, command, confirmation, argument) = ("form", "command", "confirm", "argument.")

  let command: CommandDescription
  let arguments: [String: String]
  /// Whether the name was typed, where that is needed.
  let isConfirmed: Bool

  /// Reads a form for one of these commands. Nil if it is for none of them, or has fields that the command doesn't have.
  init?(_ fields: FormFields, among commands: [CommandDescription]) {
    guard let name = fields[Self.command], let command = commands.first(where: { $0.name == name }) else { return nil }
    let names = Set(command.arguments.map { Self.argument + $0.name })
    guard fields.names.allSatisfy({ names.contains($0) || [Self.form, Self.command, Self.confirmation].contains($0) })
    else { return nil }
    var arguments: [String: String] = [:]
    for argument in command.arguments {
      // The words of a list are a field each.
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

/// What became of a command.
struct CommandOutcome: Sendable {
  /// In words. Not escaped.
  let text: String
  let isPerformed: Bool

  /// A command that was performed, and what came back.
  init(_ form: CommandForm, answer: String) {
    text = "\(form.text) was performed" + (answer.isEmpty ? "." : ": \(answer)")
    isPerformed = true
  }

  /// A command whose name wasn't typed.
  init(unconfirmed form: CommandForm) {
    text = "\(form.text) wasn't performed: it changes something, so its name, \(form.command.name), must be typed."
    isPerformed = false
  }

  /// A command that failed.
  init(_ form: CommandForm, _ error: AccessoryError) {
    let isUntouched =
      switch error.kind {
      case .busy, .permissionDenied, .notFound, .refused, .unsupported, .misconfigured: true
      case .disconnected, .timedOut, .cancelled, .badData, .ioFailure: false
      }
    let what = isUntouched ? "\(form.text) wasn't performed" : "Nobody knows whether \(form.text) was performed"
    text = "\(what): \(error.message)"
    isPerformed = false
  }
}
