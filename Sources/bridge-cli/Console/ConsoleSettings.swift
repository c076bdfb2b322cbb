// SPDX-License-Identifier: Apache-2.0

import Console

/// What the user wants of a console. Keys may change it.
struct ConsoleSettings {
  let name: String?
  var line: LineOptions
  /// Whether typed bytes may change something in the accessory.
  let write: Bool
  var input: ConsoleInput
  let view: ConsoleView
  /// The colours of received text that are shown.
  let colours: ReceivedText.Colours
  var eol: LineEnding
  var hasTimestamps: Bool
  let log: ConsoleLog?
}
