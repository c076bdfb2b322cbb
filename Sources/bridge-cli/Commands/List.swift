// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import ArgumentParser
import CommandOutput

struct List: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the accessories that are there.",
    discussion: """
      Simulators, terminals on USB and Bluetooth, and devices on USB that have a pair of endpoints which the system has \
      no use for itself: no hubs, keyboards, mice, discs, cameras and the like, which --all shows too.

      EXAMPLES
        bridge-cli list
        bridge-cli list --wait 5
        bridge-cli list --json | jq -r '.devices[].path'
      """)

  @Flag(help: "Everything on USB but hubs.")
  var all = false
  @Option(
    help: ArgumentHelp(
      "If none is there, wait so long for the first, then say that the search is over.", valueName: "time"),
    transform: SecondsArgument.read)
  var wait: SecondsArgument?
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var devices = try await KnownDevices.source().devices().filter { all || $0.mayBeAccessory }
    if devices.isEmpty, let wait {
      devices = try await first(within: wait.duration)
      if devices.isEmpty { Output.note("The search is over: nothing came within \(wait.text).") }
    }
    let accesses = await PortAccess.look(at: devices)
    let held = await held(devices)
    if output.json {
      return Output.json(
        DeviceListDocument(zip(devices, accesses).map { DeviceDocument($0, access: $1, held: held[$0.id]) }))
    }
    guard !devices.isEmpty else {
      return wait != nil ? () : Output.note("No accessory found. A pretended one: bridge-cli simulate framed")
    }
    let hasAges = held.values.contains { $0.readings_age_ms != nil }
    var table = Table(
      ["SERIAL", "NAME", "MODEL", "DRIVER", "USB", "WAYS", "ACCESS", "PATH", "SOURCE"] + (hasAges ? ["READ"] : []))
    for (device, access) in zip(devices, accesses) {
      table.add(
        [
          Table.cell(device.serialNumber), Table.cell(device.name), Table.cell(device.model), Table.cell(device.driver),
          device.usb?.product ?? "-", Table.cell(device.transports.map(\.rawValue).joined(separator: ",")),
          word(access),
          SafeText.escape(device.address.description), device.source.rawValue,
        ] + (hasAges ? [age(held[device.id])] : []))
    }
    table.lines().forEach(Output.line)
  }

  /// Those that are there when the first has come; none when none has within the time.
  private func first(within limit: Duration) async throws -> [Device] {
    let source = try KnownDevices.source()
    let all = all
    let search = Task {
      for await event in try await source.events() {
        switch event {
        case .added(let device), .changed(let device, _): if all || device.mayBeAccessory { return }
        case .removed: break
        }
      }
    }
    let timer = IOThread.shared.schedule(at: .now + limit) { search.cancel() }
    defer { IOThread.shared.cancel(timer) }
    try await withTaskCancellationHandler {
      try await search.value
    } onCancel: {
      search.cancel()
    }
    try Task.checkCancellation()
    return try await source.devices().filter { all || $0.mayBeAccessory }
  }

  /// What services tell of these devices that they hold, by the devices' identities. One that doesn't answer is passed over.
  private func held(_ devices: [Device]) async -> [String: Bridge.Accessory] {
    guard !devices.isEmpty else { return [:] }
    var told: [String: Bridge.Accessory] = [:]
    for one in await HeldAccessory.all(at: ServicePlace.all(), patience: .seconds(2)).held where one.isHeld {
      for device in devices where one.device.isSame(as: device) { told[device.id] = one.accessory }
    }
    return told
  }

  /// How long ago its readings were read.
  private func age(_ accessory: Bridge.Accessory?) -> String {
    guard let accessory, let age = accessory.readings_age_ms else { return "-" }
    return AgeView.text(age, isStale: accessory.stale == true)
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
      devices.map { PortAccess($0.address, isSimulated: $0.source == .simulator) }
    }
  }
}
