// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CommandOutput

/// The output of `setup --json`: what is, or was, written and run.
struct SetupDocument: Encodable {
  struct File: Encodable {
    let path, change: String
    /// Null for a file that is removed, and for a password.
    let text: String?
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.setup
  let name, scope: String
  let done: Bool
  let files: [File]
  let commands: [String]
  let outlets: [String]
  let undo: String

  init(_ setup: Setup, isDone: Bool) {
    (name, scope, done) = (setup.plan.name, setup.plan.scope.rawValue, isDone)
    files = setup.entries.map { entry in
      File(path: entry.path, change: entry.change.rawValue, text: entry.role?.isSecret == true ? nil : entry.text)
    }
    commands = setup.commands.map { $0.joined(separator: " ") }
    outlets = setup.plan.outlets.map(\.rawValue)
    undo = setup.undo
  }
}

/// The output of `setup --undo --json`.
struct SetupUndoneDocument: Encodable {
  struct Kept: Encodable {
    let path, reason: String
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.setupUndone
  let name: String
  let done: Bool
  let removed: [String]
  let kept: [Kept]
  let disabled: [String]

  init(_ undo: SetupUndo, isDone: Bool) {
    (name, done, removed, disabled) = (undo.name, isDone, undo.removed, undo.units)
    kept = undo.kept.map { Kept(path: $0.path, reason: $0.reason) }
  }
}
