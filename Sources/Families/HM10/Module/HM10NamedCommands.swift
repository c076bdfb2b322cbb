// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

// All commands of a module by name, except for its settings.

extension HM10NamedCommand {
  static let all: [HM10NamedCommand] = module + HM10SettingForm.all.flatMap { [$0.get, $0.set] } + central + [raw]

  private static let module: [HM10NamedCommand] = [
    HM10NamedCommand("attention", "Checks that it answers, and ends a connection", .attention),
    HM10NamedCommand("name", "Its name") { module throws(AccessoryError) in try await module.name() },
    HM10NamedCommand("set-name", "Sets its name", [.init("name", .text(HM10Limits.name))]) {
      module, call throws(AccessoryError) in
      try await module.setName(call.text("name"))
      return []
    },
    HM10NamedCommand("address", "Its address") { module throws(AccessoryError) in try await module.address().description
    },
    HM10NamedCommand("last-address", "The address of its last connection") { module throws(AccessoryError) in
      try await module.lastAddress().description
    },
    HM10NamedCommand("version", "Its version") { module throws(AccessoryError) in try await module.version() },
    HM10NamedCommand("help", "The commands that it lists") { module throws(AccessoryError) in
      try await module.help()
    },
    HM10NamedCommand("battery-percent", "Its battery's charge", results: [.init("percent", unit: "%")]) {
      module, _ throws(AccessoryError) in [.whole(try await module.batteryPercent())]
    },
    HM10NamedCommand("signal-strength", "The strength of a connection", results: [.init("strength", unit: "dBm")]) {
      module, _ throws(AccessoryError) in [.whole(try await module.signalStrength())]
    },
    HM10NamedCommand("start", "Starts its work, if it waits for commands after power-on", .start),
    HM10NamedCommand("clear", "Forgets the address of its last connection", .clear),
    HM10NamedCommand("sleep", "Sleeps, until it is sent more than 80 bytes", .sleep),
    HM10NamedCommand("reset", "Restarts it", .reset),
    HM10NamedCommand("renew", "Restores its factory settings", .renew),
  ]

  private static let central: [HM10NamedCommand] = [
    scan("discover", "Scans for devices, as a central", .discover),
    scan("discover-beacons", "Scans for iBeacons (since V539)", .discoverBeacons),
    scan("discover-advertisements", "Scans for advertisements (V6 and later)", .discoverAdvertisements),
    HM10NamedCommand(
      "connect-address", "Connects to a device", [.address, .init("dual", .flag, defaultValue: .flag(false))],
      results: [.init("address")]
    ) { module, call throws(AccessoryError) in
      guard let address = BluetoothAddress(call.text("address")) else {
        throw AccessoryError(.misconfigured, "\(call.text("address")) is not an address, such as 00:17:EA:09:09:09")
      }
      return try await connect(module, .connect(address, isDual: call.flag("dual")))
    },
    HM10NamedCommand(
      "connect-index", "Connects to a device by its number in the last scan",
      [.init("index", .whole(HM10Limits.indices))], results: [.init("address")]
    ) { module, call throws(AccessoryError) in try await connect(module, .connectIndex(call.whole("index"))) },
    HM10NamedCommand("connect-last", "Connects to the device of the last connection", results: [.init("address")]) {
      module, _ throws(AccessoryError) in try await connect(module, .connectLast)
    },
  ]

  private static let raw = HM10NamedCommand(
    "at", "Sends any AT command", [.init("command", .text(HM10Limits.command))],
    results: [.init("reply")]
  ) { module, call throws(AccessoryError) in
    let command: HM10Command
    do throws(HM10CommandError) {
      command = try HM10Command(decoding: Array(call.text("command").utf8))
    } catch {
      throw AccessoryError(.misconfigured, "\(call.text("command")) can't be sent: \(error)")
    }
    return [.text(String(decoding: try await module.ask(command).encoded, as: UTF8.self))]
  }

  private static func connect(
    _ module: HM10Module, _ command: HM10Command
  ) async throws(AccessoryError) -> [CommandValue] {
    guard case .connection(.made(let address?)) = try await module.ask(command) else { return [.nothing] }
    return [.text(address.description)]
  }

  private static func scan(_ name: String, _ summary: String, _ command: HM10Command) -> HM10NamedCommand {
    HM10NamedCommand(
      name, summary, results: [.init("addresses"), .init("strengths", unit: "dBm"), .init("names")]
    ) { module, _ throws(AccessoryError) in
      let found = try await module.scan(for: command).strongestFirst
      return [
        .list(found.map { .text($0.address.description) }),
        .list(found.map { $0.signalStrength.map { .whole($0) } ?? .nothing }),
        .list(found.map { $0.name.map { .text($0) } ?? .nothing }),
      ]
    }
  }
}

extension CommandDescription.Argument {
  fileprivate static let address = Self("address", .text(17))
}
