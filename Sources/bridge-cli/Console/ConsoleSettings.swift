// SPDX-License-Identifier: Apache-2.0

/// What the user wants of a console. Keys may change it.
struct ConsoleSettings {
  let name: String?
  var line: LineOptions
  /// Whether typed bytes may change something in the accessory.
  let write: Bool
  var input: ConsoleInput
  let view: ConsoleView
  var eol: LineEnding
  var hasTimestamps: Bool
  let log: ConsoleLog?
}
