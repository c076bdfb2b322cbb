// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyHM10

/// `simulate hm10`.
package struct HM10Kind: SerialKind {
  package static let name = "hm10"
  package static let abstract = "Simulates an HM-10 Bluetooth module with devices around it, on a pseudo-terminal."
  package static let discussion = """
    The devices around it change their signals from scan to scan, and echo when connected. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate hm10 --neighbours 40 --link ./hm10
      bridge-cli simulate hm10 --central --lose-after 5s --away 2s
    """
  package static let serialNumbers = (prefix: "0017EA09", digits: 4)
  package static let signal: HM10Surroundings.ScheduledAction? = .lose

  package var line = SimulatedLine()
  private var surroundings = HM10Surroundings.Configuration()
  private var isClone = false
  private var batteryForm = BatteryForm.old
  private var address: String?

  private enum BatteryForm: String, OptionWord {
    case old, new
  }

  package init() {}

  package static let options = own + SimulatedLine.options.map { $0.of(\.line) }

  private static let own: [CommandOption<Self>] = [
    .flag("clone", "Simulate a clone, which knows fewer commands.", \.isClone),
    .whole("percent", "percent", "Battery in percent, 0 to 100.", \.surroundings.module.percent, 0...100),
    .word(
      "battery-form", "The form of its battery reply: old is OK+BATT:057, new is OK+Get:057.", \.batteryForm
    ).rare,
    .text("name", "text", "Name, 1 to 12 bytes.", \.surroundings.module.name, 1...HM10Limits.name),
    .text(
      "address", "address", "Address; default: the first free one from 0017EA090001 on.", \.address
    ).rare,
    .text("version", "text", "Version.", \.surroundings.module.version, 0...64).rare,
    .flag("central", "Start in the central role, which scans and connects.", \.surroundings.module.isCentral).rare,
    .whole("neighbours", "number", "Devices around it, 0 to 1000.", \.surroundings.neighbours, 0...1_000),
    .time("scan-time", "How long a scan takes; default: the module's setting, 3s.", \.surroundings.scanTime).rare,
    .whole(
      "refuse", "number", "Let this many attempts to connect fail.", \.surroundings.module.refusals, 0...Int.max
    ).rare,
    .time("lose-after", "Drop each connection after this time.", \.surroundings.loseAfter).rare,
    .time("away", "Refuse connections for this time after one was lost.", \.surroundings.away).rare,
  ]

  package var problem: String? {
    if let address, BluetoothAddress(address) == nil { return "--address must be like 00:17:EA:09:09:09" }
    return line.problem
  }

  package var serialNumber: String? { address.flatMap { BluetoothAddress($0)?.digits } }

  package func device(_ start: SimulatorStart) -> HM10Surroundings {
    var surroundings = surroundings
    surroundings.module.dialect = isClone ? .clone : .genuine
    surroundings.module.newBatteryForm = batteryForm == .new
    if let address = BluetoothAddress(start.serialNumber) { surroundings.module.address = address }
    surroundings.seed = start.seed
    return HM10Surroundings(surroundings)
  }

  package static func told(_ news: HM10Surroundings.News) -> SimulatorNews? {
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
