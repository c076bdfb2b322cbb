// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput
import Glibc

struct Battery: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "battery",
    abstract: "Shows an accessory's battery.",
    discussion: """
      What the accessory doesn't say isn't shown, and null in JSON. Cells are listed where the terminal is wide enough.

      EXAMPLES
        bridge-cli battery
        bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent
        bridge-cli battery SIM0001 --watch
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Go on: print again whenever the accessory says that something changed.")
  var watch = false
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    if let held = try await HeldDevice.find(device.text, line) { return try await run(held) }
    try await OpenedAccessory.with(device.text, line) { opened in
      let (reading, news) = try await opened.accessory.batteryAndNews()
      show(reading, opened)
      guard watch else { return }
      for try await event in news {
        if case .battery(let reading) = event { show(reading, opened) }
      }
      throw CancellationError()
    }
  }

  /// The same through the service that holds it.
  private func run(_ held: HeldDevice) async throws {
    let events = watch ? try await held.calls.events() : nil
    let reply = try await held.battery()
    held.noteAge(reply.age_ms)
    show(reply.battery.reading, DeviceDocument(reply.device), age: reply.age_ms, isStale: reply.stale == true)
    guard let events else { return }
    for try await event in events {
      switch event {
      case .disconnected(_, let error): throw error
      case .battery(let device, let reading): show(reading, DeviceDocument(device))
      default: break
      }
    }
    try Task.checkCancellation()
  }

  private func show(_ reading: BatteryReading, _ opened: OpenedAccessory) {
    show(reading, DeviceDocument(opened.device))
  }

  private func show(_ reading: BatteryReading, _ device: DeviceDocument, age: Int? = nil, isStale: Bool = false) {
    if output.json {
      Output.json(BatteryDocument(device, reading, age: age, isStale: isStale))
    } else {
      Output.line(BatteryView.line(reading))
      let details = BatteryDetails.facts(reading, columns: TerminalSize.columns(of: STDOUT_FILENO))
      Table.facts(details + AgeView.facts(age, isStale: isStale)).forEach(Output.line)
    }
  }
}
