// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Shows all accessories on one screen that follows them.",
    discussion: """
      The arrows select an accessory, Enter shows everything about it, F1 shows all keys, and q quits. Marks before the name: !! an \
      alarm, ! a warning, ? an old reading, + being opened, - away. If no service runs, top opens the accessories itself.

      EXAMPLES
        bridge-cli top
        bridge-cli top --sort charge --alarm 'battery < 20 %'
        bridge-cli top --filter attached
      """)

  @Option(help: .value("order", "Sort by alarm (what needs care first), name, charge or age.")) var sort = TopSort.alarm
  @Option(help: .value("words", "Show only accessories with these words.")) var filter: String = ""
  @OptionGroup var alarms: AlarmOptions
  @Flag(help: .hidden)
  var json = false

  /// What to use without a terminal.
  private static let alternatives =
    "bridge-cli battery --all shows all batteries once, list --json everything that is known, and watch --json what happens"

  func validate() throws {
    if json { throw ValidationError(TopSession.noJSON(Self.alternatives)) }
  }

  func run() async throws {
    try TopSession.checkTerminal(Self.alternatives)
    let (places, held) = try await TopServices.find(alarms.rules)
    // A service in this process watches by the rules itself.
    let feed = ServiceTopFeed(places, isOwn: held != nil, rules: held == nil ? alarms.rules : [])
    let title = held == nil ? "bridge-cli top" : "bridge-cli top (no service)"
    try await TopSession.run(feed, TopModel(title: title, sort: sort, filter: filter)) {
      await $0.run()
    } end: { _ in
      // The lines are closed before the command ends.
      await held?.end()
    }
  }
}
