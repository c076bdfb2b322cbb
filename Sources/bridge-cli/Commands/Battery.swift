// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import ArgumentParser

struct Battery: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows an accessory's battery.",
    discussion: """
      EXAMPLES
        bridge-cli battery
        bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent
        bridge-cli battery SIM0001 --watch
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Go on: print again whenever the accessory says that something changed.")
  var watch = false
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await Attachment.with(device.text, line) { attachment in
      let (reading, events) = try await attachment.accessory.batteryAndEvents()
      show(reading, attachment)
      guard watch else { return }
      for try await event in events {
        if case .battery(let reading) = event { show(reading, attachment) }
      }
      throw CancellationError()
    }
  }

  private func show(_ reading: BatteryReading, _ attachment: Attachment) {
    if output.json {
      Output.json(BatteryDocument(device: DeviceDocument(attachment.device), battery: .init(reading)))
    } else {
      Output.line(BatteryView.line(reading))
    }
  }
}
