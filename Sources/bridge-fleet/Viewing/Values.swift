// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput
import Console

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
    try await FleetSession.with(fleet) { session in
      if watch { await session.reader.follow() }
      let one = try await session.find(accessory.text, [.values])
      var last = ValuesReading()
      try show(one, &last)
      guard watch else { return }
      try await session.follow { news, fleet in
        guard case .change(.accessory(one.key, .values)) = news, let now = fleet.accessory(one.key),
          let values = now.values
        else { return }
        showChanges(of: now, values.values, &last)
      }
    }
  }

  private func isWanted(_ name: String) -> Bool { names.isEmpty || names.contains(name) }

  private func show(_ one: FleetAccessory, _ last: inout ValuesReading) throws {
    guard let published = one.values else { throw one.missing("values") }
    last.take(published.values.map(\.reading), at: .now)
    if let missing = names.first(where: { last[$0] == nil }) {
      let all = published.values.map { MeasurementView.name($0.name) }.joined(separator: ", ")
      throw UsageError("there is no value \(missing): \(all.isEmpty ? "there are none" : "there are " + all)")
    }
    let now = WallClock.seconds
    let values = published.values(now: now).filter { isWanted($0.name) }.map { value in
      var value = value
      value.stale = value.stale == true || one.isStale
      return value
    }
    if output.json { return Output.json(one.document(ValuesDocument(one.device, values, at: now))) }
    if !values.isEmpty { MeasurementView.table(values, columns: Output.columns).forEach(Output.line) }
    if !one.isConnected { Table.facts(one.facts, columns: Output.columns).forEach(Output.note) }
  }

  private func showChanges(of one: FleetAccessory, _ values: [Bridge.MeasuredValue], _ last: inout ValuesReading) {
    let changed = last.take(values.map(\.reading), at: .now).filter { isWanted($0.name) }
    guard !changed.isEmpty else { return }
    if output.json {
      return Output.json(one.document(ValuesDocument(one.device, changed.map { Bridge.MeasuredValue($0) })))
    }
    let width = last.values.map { TextWidth.of(MeasurementView.name($0.name)) }.max() ?? 0
    for value in changed { Output.wrapped(MeasurementView.line(value, width: width), indent: 2) }
  }
}
