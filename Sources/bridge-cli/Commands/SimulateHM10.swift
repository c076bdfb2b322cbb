// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyHM10

struct SimulateHM10: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "hm10",
    abstract: "Simulates an HM-10 Bluetooth module with devices around it, on a pseudo-terminal.",
    discussion: """
      The devices around it change their signals from scan to scan, and echo when connected. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate hm10 --neighbours 40 --link ./hm10
        bridge-cli simulate hm10 --central --lose-after 5s --away 2s
      """)

  @Flag(help: "Simulate a clone, which knows fewer commands.")
  var clone = false
  @Option(help: .value("percent", "Battery in percent, 0 to 100.")) var percent = 100
  @Option(help: .rare("The form of its battery reply: old is OK+BATT:057, new is OK+Get:057."))
  var batteryForm = BatteryForm.old
  @Option(help: .value("text", "Name, 1 to 12 bytes.")) var name = "HMSoft"
  @Option(help: .rare("address", "Address; default: the first free one from 0017EA090001 on.")) var address: String?
  @Option(help: .rare("text", "Version."))
  var version =
    "HMSoft V540"
  @Flag(help: .rare("Start in the central role, which scans and connects.")) var central = false
  @Option(help: .value("number", "Devices around it, 0 to 1000.")) var neighbours = 3
  @Option(
    help: .rare("time", "How long a scan takes; default: the module's setting, 3s."), transform: TimeArgument.read)
  var scanTime: TimeArgument?
  @Option(help: .rare("number", "Let this many attempts to connect fail.")) var refuse = 0
  @Option(help: .rare("time", "Drop each connection after this time."), transform: TimeArgument.read)
  var loseAfter: TimeArgument?
  @Option(help: .rare("time", "Refuse connections for this time after one was lost."), transform: TimeArgument.read)
  var away: TimeArgument?
  @OptionGroup var options: SimulatorOptions
  var output: OutputOptions { options.output }

  enum BatteryForm: String, ExpressibleByArgument, CaseIterable {
    case old, new
  }

  func validate() throws {
    guard (0...100).contains(percent) else { throw ValidationError("--percent must be 0 to 100") }
    guard (0...1_000).contains(neighbours) else { throw ValidationError("--neighbours must be 0 to 1000") }
    guard refuse >= 0 else { throw ValidationError("--refuse must be a number of attempts") }
    guard (1...HM10Limits.name).contains(name.utf8.count) else {
      throw ValidationError("--name must have 1 to 12 bytes")
    }
    guard version.utf8.count <= 64 else { throw ValidationError("--version must have at most 64 bytes") }
    if let address, BluetoothAddress(address) == nil {
      throw ValidationError("--address must be like 00:17:EA:09:09:09")
    }
  }

  func run() async throws {
    var surroundings = HM10Surroundings.Configuration()
    var module = HM10Device.Configuration()
    module.dialect = clone ? .clone : .genuine
    module.percent = percent
    module.newBatteryForm = batteryForm == .new
    module.name = name
    module.version = version
    module.isCentral = central
    module.refusals = refuse
    let serial = try await SimulatedSerial.chosen(address, or: "0017EA09", digits: 4)
    if let address = BluetoothAddress(serial) { module.address = address }
    surroundings.module = module
    surroundings.neighbours = neighbours
    surroundings.scanTime = scanTime?.duration
    surroundings.loseAfter = loseAfter?.duration
    surroundings.away = away?.duration ?? .zero
    let seed = options.seed ?? .random(in: 0 ... .max)
    surroundings.seed = seed
    try await options.run(
      HM10Surroundings(surroundings), serial: module.address.digits, seed: seed, onSignal: .lose
    ) { news in
      switch news {
      case .command: nil
      case .connected(let address): SimulatorNews("connected", "connected to \(address)", text: address.description)
      case .lost: SimulatorNews("lost", "connection lost")
      case .passed(let bytes):
        SimulatorNews("received", "the connected device received \(Amount.bytes(bytes.count))", bytes: bytes)
      case .restarted: SimulatorNews("restarted", "restarted")
      }
    }
  }
}
