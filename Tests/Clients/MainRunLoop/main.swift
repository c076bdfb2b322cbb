// SPDX-License-Identifier: Apache-2.0

// A program whose main run loop goes on when its sessions are over. Its first word says what it does first. Then it has
// nothing to do for two seconds, and prints how many ticks of processor time that took.

import ExternalAccessory
import TestSupport

let words = CommandLine.arguments.dropFirst()
if words.first == "plugs", words.count == 3, let count = Int(words[2]), let load = Int(words[3]) {
  Plugs(count: count, load: load).run()
}
guard let name = words.first, let way = Teardown(rawValue: name) else { exit(64) }
way.perform(with: Client(terminal: try openPseudoTerminal(raw: true)))
