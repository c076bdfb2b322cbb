// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

struct Status: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the state of an accessory, and its identity.",
    discussion: """
      EXAMPLES
        bridge-cli status
        bridge-cli status ./acc --json | jq -r .status.state
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var reading: ReadingOptions
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let found = try await Door.find(device.text, line)
    try await found.with { opened in
      let read = try await opened.status(reading.wish)
      read.noteAge(opened.service)
      show(read, opened.document, found.driver)
    }
  }

  private func show(_ told: Read<StatusAndIdentity>, _ device: DeviceDocument, _ driver: Driver?) {
    if output.json { return Output.json(ReadingDocument(device, told)) }
    let (read, identity) = (told.map(\.status), told.identity)
    let facts =
      StatusView.facts(read.value) + StatusView.facts(identity) + AgeView.facts(read)
      + AlarmView.facts(read.alarms) + AlarmView.facts(unfit: read.unfitAlarms)
    Table.facts(facts, columns: Output.columns).forEach(Output.line)
    if StatusView.facts(read.value).isEmpty { Output.note(Self.instead(driver, self.device.text)) }
  }

  /// What to ask for in place of a status that isn't known. `name` is what the user typed.
  private static func instead(_ driver: Driver?, _ name: String?) -> String {
    let kind = driver.map { "An accessory with the driver \($0.name)" } ?? "This accessory"
    let none =
      driver?.lacks.contains(.status) == false ? "\(kind) didn't report its state" : "\(kind) reports no status"
    let device = name.map { " " + SafeText.escape($0) } ?? ""
    let commands: [(DriverAbility, String)] = [(.battery, "battery"), (.values, "values")]
    let known = commands.filter { driver?.lacks.contains($0.0) == false }.map { "bridge-cli \($0.1)\(device)" }
    return known.isEmpty ? none + "." : "\(none). Other commands for it: \(known.joined(separator: ", "))"
  }
}
