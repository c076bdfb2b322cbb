// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

extension TopSort: ExpressibleByArgument {}

struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Shows all accessories on one screen that follows them.",
    discussion: """
      One row for each accessory: its charge, voltage, current and values, how old its reading is, and what it does. The \
      arrows select one, and Enter shows everything about it: its cells, its values and its last hours. F1 shows all \
      keys; q quits.

      A mark before the name says what to look at: !! an alarm, ! a warning, ? a reading that is older than it should be, \
      + being opened, - away. The arrow behind the charge says whether the battery is charged or discharged.

      If a service runs, top shows its accessories. Otherwise it opens those that a profile fits, and acts as their \
      service until it ends, as attach does.

      --alarm adds rules to those of the service; they count only for this screen.

      Colours are left out if NO_COLOR is set, and other characters than ASCII if the locale isn't UTF-8.

      EXAMPLES
        bridge-cli top
        bridge-cli top --sort alarm
        bridge-cli top --filter attached
        bridge-cli top --alarm 'battery < 20 %'
      """)

  @Option(help: ArgumentHelp("Sort by name, charge, age or alarm.", valueName: "order"))
  var sort = TopSort.name
  @Option(help: ArgumentHelp("Show only accessories that have these words in their row or facts.", valueName: "words"))
  var filter: String = ""
  @OptionGroup var alarms: AlarmOptions
  @Flag(help: .hidden)
  var json = false

  /// What to use where a screen is no use.
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
