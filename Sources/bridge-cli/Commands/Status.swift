// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
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
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if let held = try await HeldDevice.find(device.text, line) {
      let reply = try await held.status()
      held.noteAge(reply.age_ms)
      OpenedAccessory.note(missing: reply.missing)
      return show(
        reply.status.reading, reply.identity.reading, DeviceDocument(reply.device),
        held.accessory.driver.flatMap { KnownDrivers.driver(named: $0) }, age: reply.age_ms,
        isStale: reply.stale == true,
        alarms: reply.alarms, unfit: reply.unfit_alarms, missing: reply.missing)
    }
    try await OpenedAccessory.with(device.text, line) { opened in
      let (status, identity) = try await OpenedAccessory.answer(of: opened.accessory.label) {
        (try await opened.accessory.status(), try await opened.accessory.identify())
      }
      let missing = opened.accessory.missing
      OpenedAccessory.note(missing: missing)
      show(status, identity, DeviceDocument(opened.device), opened.driver, missing: missing)
    }
  }

  private func show(
    _ status: AccessoryStatus, _ identity: AccessoryIdentity, _ device: DeviceDocument, _ driver: Driver?,
    age: Int? = nil, isStale: Bool = false, alarms: [Bridge.Alarm]? = nil, unfit: [Bridge.UnfitAlarm]? = nil,
    missing: String? = nil
  ) {
    if output.json {
      return Output.json(
        StatusDocument(
          device, status, identity, age: age, isStale: isStale, alarms: alarms, unfitAlarms: unfit, missing: missing))
    }
    let facts =
      StatusView.facts(status) + StatusView.facts(identity) + AgeView.facts(age, isStale: isStale)
      + AlarmView.facts(alarms) + AlarmView.facts(unfit: unfit)
    Table.facts(facts, columns: Output.columns).forEach(Output.line)
    if StatusView.facts(status).isEmpty { Output.note(Self.instead(driver, self.device.text)) }
  }

  /// What to ask for in place of a status that isn't known. `name` is what the user typed.
  private static func instead(_ driver: Driver?, _ name: String?) -> String {
    let kind = driver.map { "An accessory with the driver \($0.name)" } ?? "This accessory"
    let none =
      driver?.lacks.contains(.status) == false ? "\(kind) didn't say what it is doing" : "\(kind) reports no status"
    let device = name.map { " " + SafeText.escape($0) } ?? ""
    let commands: [(DriverAbility, String)] = [(.battery, "battery"), (.values, "values")]
    let known = commands.filter { driver?.lacks.contains($0.0) == false }.map { "bridge-cli \($0.1)\(device)" }
    return known.isEmpty ? none + "." : "\(none). It has instead: \(known.joined(separator: ", "))"
  }
}
