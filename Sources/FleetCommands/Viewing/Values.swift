// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Values: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "values",
    abstract: "Shows what an accessory of any gateway measures besides its battery, with units.",
    discussion: """
      An unknown value is shown as -, and has no number in JSON. The age is the time since the gateway has published the \
      value; when the gateway or the accessory can't be reached, values are stale.

      EXAMPLES
        bridge-fleet values EV3 --broker mqtt://broker.example
        bridge-fleet values attic:EV3 port_4 --watch
        bridge-fleet values EV3 --json | jq '.values[] | select(.name == "port_4").number'
      """)

  @OptionGroup var accessory: FleetAccessoryArgument
  @Argument(help: "Only the values with these names; needs the accessory, too.")
  var names: [String] = []
  @Flag(help: "Keep running: print values again when they change.")
  var watch = false
  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    let shown = ShownValues(json: output.json, names: names)
    try await FleetSession.with(fleet, follows: watch) { session in
      let one = try await session.find(accessory.text, [.values])
      try show(one, shown)
      guard watch else { return }
      try await session.follow { news, fleet in
        guard case .change(.accessory(one.key, .values)) = news, let now = fleet.accessory(one.key),
          let values = now.values
        else { return }
        shown.showChanges(Read(values.values.map(\.value))) { now.document(ReadingDocument(now.device, $0)) }
      }
    }
  }

  private func show(_ one: FleetAccessory, _ shown: ShownValues) throws {
    guard let published = one.values else { throw one.missing("values") }
    let now = WallClock.seconds
    let values = published.values(now: now).map { value in
      var value = value
      value.isStale = value.isStale || one.isStale
      return value
    }
    try shown.show(Read(values).lacking(one.state.missing), isComplete: true) {
      one.document(ReadingDocument(one.device, $0, at: now))
    }
    if !one.state.isConnected, !output.json { Table.facts(one.facts, columns: Output.columns).forEach(Output.note) }
  }
}
