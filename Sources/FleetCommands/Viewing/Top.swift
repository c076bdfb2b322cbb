// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Shows all accessories of all gateways on one screen that follows them.",
    discussion: """
      The screen is that of bridge-cli top: F1 shows the keys and marks, / filters, Enter shows everything about one \
      accessory. It also works for thousands of accessories.

      EXAMPLES
        bridge-fleet top --broker mqtt://broker.example
        bridge-fleet top --sort charge
        bridge-fleet top --gateway attic --filter offline
      """)

  @Option(help: .value("order", "Sort by alarm (what needs care first), name, charge or age.")) var sort = TopSort.alarm
  @Option(help: .value("words", "Show only accessories that have these words in their row or facts."))
  var filter: String = ""
  @Flag(help: .hidden)
  var json = false
  @OptionGroup var fleet: FleetOptions

  /// What to use where a screen is no use.
  private static let alternatives =
    "bridge-fleet list --json shows everything that is known, and watch --json what happens"

  func validate() throws {
    if json { throw ValidationError(TopSession.noJSON(Self.alternatives)) }
  }

  func run() async throws {
    try TopSession.checkTerminal(Self.alternatives)
    let settings = try await fleet.settings()
    let feed = FleetTopFeed(settings, gateway: fleet.gateway)
    // An error of the first connection is printed before there is a screen.
    try await feed.begin(within: fleet.timeout.duration)
    try await TopSession.run(
      feed, TopModel(title: "bridge-fleet top  \(settings.broker)", sort: sort, filter: filter)
    ) {
      await $0.run()
    } end: {
      await $0.close()
    }
  }
}
