// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import ArgumentParser

struct List: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the accessories that are there.",
    discussion: """
      Simulators, terminals on USB and Bluetooth, and devices on USB that have a pair of endpoints which the system has \
      no use for itself: no hubs, keyboards, mice, discs, cameras and the like, which --all shows too.

      EXAMPLES
        bridge-cli list
        bridge-cli list --json | jq -r '.devices[].path'
      """)

  @Flag(help: "Everything on USB but hubs.")
  var all = false
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let devices = try await KnownDevices.source().devices().filter { all || $0.mayBeAccessory }
    let accesses = await PortAccess.look(at: devices)
    if output.json {
      return Output.json(ListDocument(devices: zip(devices, accesses).map { DeviceDocument($0, access: $1) }))
    }
    guard !devices.isEmpty else {
      return Output.note("No accessory found. A pretended one: bridge-cli simulate framed")
    }
    var table = Table(["SERIAL", "NAME", "MODEL", "DRIVER", "USB", "WAYS", "ACCESS", "PATH", "SOURCE"])
    for (device, access) in zip(devices, accesses) {
      table.add([
        text(device.serialNumber), text(device.name), text(device.model), text(device.driver),
        device.usb?.product ?? "-", text(device.ways.map(\.rawValue).joined(separator: ",")), word(access),
        SafeText.escape(device.path), device.source.rawValue,
      ])
    }
    table.lines.forEach(Output.line)
  }

  private func text(_ value: String?) -> String {
    guard let value, !value.isEmpty else { return "-" }
    return SafeText.escape(value, limit: 32)
  }

  private func word(_ access: PortAccess) -> String {
    switch access.refusal?.kind {
    case .permissionDenied: "denied"
    case nil: access.holder == nil ? "free" : "in use"
    default: "gone"
    }
  }
}

extension PortAccess {
  /// Looks at the nodes of these devices.
  static func look(at devices: [Device]) async -> [PortAccess] {
    await SetupQueue(label: "access").run {
      devices.map { PortAccess(path: $0.path, isSimulated: $0.source == .simulator) }
    }
  }
}
