// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyHM1X

/// `simulate hm1x`.
package struct HM1XKind: SerialKind {
  package static let name = "hm1x"
  package static let abstract = "Simulates a car that takes HM-1X control frames, on a pseudo-terminal."
  package static let discussion = """
    It prints what it receives when that changes. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate hm1x
    """
  package static let serialNumbers = (prefix: "CAR", digits: 4)

  package var line = SimulatedLine()
  package private(set) var serialNumber: String?
  private var isNaive = false

  package init() {}

  package static let options = own + SimulatedLine.options.map { $0.of(\.line) }

  private static let own: [CommandOption<Self>] = [
    .flag(
      "naive", "Split frames at colons, as simple firmware does; default: read four bytes at a time.", \.isNaive
    ).rare, .text("serial", "text", "Serial number.", \.serialNumber),
  ]

  package var problem: String? { line.problem }

  package func device(_ start: SimulatorStart) -> HM1XDevice {
    var configuration = HM1XDevice.Configuration()
    configuration.receiver = isNaive ? .naive : .window
    configuration.serialNumber = start.serialNumber
    return HM1XDevice(configuration)
  }

  package static func told(_ frame: HM1XFrame) -> SimulatorNews? {
    let lights = (frame.headlights ? ", headlights" : "") + (frame.brakeLights ? ", brake lights" : "")
    let text = "steering \(frame.steering), acceleration \(frame.acceleration)\(lights)"
    return SimulatorNews("frame", text, text: text, bytes: frame.encoded())
  }
}
