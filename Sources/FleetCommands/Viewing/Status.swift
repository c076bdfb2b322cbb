// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Status: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the state of an accessory of any gateway, and its identity.",
    discussion: """
      EXAMPLES
        bridge-fleet status SIM0001 --broker mqtt://broker.example
        bridge-fleet status attic:SIM0001 --json | jq -r .status.state
      """)

  @OptionGroup var accessory: FleetAccessoryArgument
  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let one = try await FleetSession.with(fleet) { try await $0.find(accessory.text) }
    let now = WallClock.seconds
    guard let read = one.state.status(at: MonotonicTime(since1970: now)) else { throw one.missing("status") }
    let identity = one.state.identity ?? AccessoryIdentity()
    if output.json {
      let whole = read.map { StatusAndIdentity(status: $0, identity: identity) }
      return Output.json(one.document(ReadingDocument(one.device, whole, at: now)))
    }
    let facts =
      StatusView.facts(read.value) + StatusView.facts(identity) + one.facts + AgeView.facts(read)
      + AlarmView.facts(read.alarms)
    Table.facts(facts, columns: Output.columns).forEach(Output.line)
    if StatusView.facts(read.value).isEmpty {
      let device = SafeText.escape(accessory.text ?? one.key.description)
      let known = [("battery", one.state.battery != nil), ("values", one.values != nil)].filter(\.1)
        .map { "bridge-fleet \($0.0) \(device)" }
      Output.note(
        "\(one.key) reports no status"
          + (known.isEmpty ? "." : ". Other commands for it: \(known.joined(separator: ", "))"))
    }
  }
}
