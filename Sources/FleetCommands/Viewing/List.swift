// SPDX-License-Identifier: Apache-2.0

import AccessoryFleet
import ArgumentParser
import CommandOutput

struct List: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the accessories of all gateways that publish on a broker.",
    discussion: """
      An accessory whose gateway is offline is shown as offline, and one that is unplugged as gone, until its gateway \
      removes it from the broker.

      EXAMPLES
        bridge-fleet list --broker mqtt://broker.example
        bridge-fleet list --gateway attic
        bridge-fleet list --json | jq -r '.devices[] | select(.connected | not) | .gateway + ":" + .id'
      """)

  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let (found, emptiness) = try await FleetSession.with(fleet) {
      (try await $0.all(), $0.emptiness)
    }
    let (accessories, isComplete) = found
    if output.json {
      return Output.json(FleetListDocument(accessories.map { $0.document($0.device) }, isComplete: isComplete))
    }
    guard !accessories.isEmpty else { return Output.note(emptiness) }
    let hasAlarms = accessories.contains { $0.state.alarms?.isEmpty == false }
    var table = Table(
      ["GATEWAY", "ID", "NAME", "MODEL", "DRIVER", "BATTERY", "STATE", "PROFILE"] + (hasAlarms ? ["ALARM"] : []),
      optional: [7, 3, 4, 2])
    for one in accessories {
      let device = one.state.device
      let battery = one.state.battery
      let cells = [
        one.key.gateway.text, Table.cell(device.id), Table.cell(device.given?.name ?? device.name),
        Table.cell(device.model),
        Table.cell(device.driver), battery?.percent.map { "\($0) %" } ?? battery.map(\.level.rawValue) ?? "-", one.word,
        Table.cell(one.state.record?.profile),
      ]
      table.add(cells + (hasAlarms ? [AlarmView.cell(one.state.alarms ?? [])] : []))
    }
    table.lines(columns: Output.columns).forEach(Output.line)
  }
}
