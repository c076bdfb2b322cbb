// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import ArgumentParser

struct List: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the accessories that are there.",
    discussion: """
      EXAMPLES
        bridge-cli list
        bridge-cli list --json | jq -r '.devices[].path'
      """)

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let devices = try await SimulatorSource().devices()
    if output.json { return Output.json(ListDocument(devices: devices.map(DeviceDocument.init))) }
    guard !devices.isEmpty else {
      return Output.note("No accessory found. A pretended one: bridge-cli simulate framed")
    }
    var table = Table(["SERIAL", "NAME", "MODEL", "DRIVER", "PATH", "SOURCE"])
    for device in devices {
      table.add([
        text(device.serialNumber), text(device.name), text(device.model), text(device.driver),
        SafeText.escape(device.path), device.source.rawValue,
      ])
    }
    table.lines.forEach(Output.line)
  }

  private func text(_ value: String?) -> String {
    guard let value, !value.isEmpty else { return "-" }
    return SafeText.escape(value, limit: 32)
  }
}
