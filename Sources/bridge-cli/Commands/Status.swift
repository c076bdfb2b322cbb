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
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if let held = try await HeldDevice.find(device.text, line) {
      let reply = try await held.status()
      held.noteAge(reply.age_ms)
      return show(
        reply.status.reading, reply.identity.reading, DeviceDocument(reply.device), age: reply.age_ms,
        isStale: reply.stale == true, alarms: reply.alarms, unfit: reply.unfit_alarms)
    }
    try await OpenedAccessory.with(device.text, line) { opened in
      let (status, identity) = try await OpenedAccessory.answer(of: opened.accessory.label) {
        (try await opened.accessory.status(), try await opened.accessory.identify())
      }
      show(status, identity, DeviceDocument(opened.device))
    }
  }

  private func show(
    _ status: AccessoryStatus, _ identity: AccessoryIdentity, _ device: DeviceDocument, age: Int? = nil,
    isStale: Bool = false, alarms: [Bridge.Alarm]? = nil, unfit: [Bridge.UnfitAlarm]? = nil
  ) {
    if output.json {
      return Output.json(
        StatusDocument(device, status, identity, age: age, isStale: isStale, alarms: alarms, unfitAlarms: unfit))
    }
    let facts =
      StatusView.facts(status) + StatusView.facts(identity) + AgeView.facts(age, isStale: isStale)
      + AlarmView.facts(alarms) + AlarmView.facts(unfit: unfit)
    Table.facts(facts, columns: Output.columns).forEach(Output.line)
  }
}
