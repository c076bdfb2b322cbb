// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessorySimulator
import FamilyBluno

/// `simulate bluno`.
package struct BlunoKind: SerialKind {
  package static let name = "bluno"
  package static let abstract = "Simulates a robot with a Bluno board, on a pseudo-terminal."
  package static let discussion = """
    It prints what it receives, answers task 0, and its radio has an AT mode. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate bluno --link ./robot
      bridge-cli simulate bluno --say "all is well" --every 5s
    """
  package static let serialNumbers = (prefix: "0017EA93", digits: 4)
  package static let uart = GATTUART.bluno

  package var line = SimulatedLine()
  private var robot = BlunoDevice.Configuration()
  private var address: String?

  package init() {}

  package static let options = own + SimulatedLine.options.map { $0.of(\.line) }

  private static let own: [CommandOption<Self>] = [
    .flag("lines", "Read lines; default: single characters.", \.robot.readsLines).rare,
    .text("say", "text", "Send this text again and again.", \.robot.says, 0...1_024),
    .time(
      "every", "The time between two texts of --say; default: 1s.", \.robot.interval, atLeast: .milliseconds(10)
    ).rare,
    .flag("old", "Its radio is older than 1.8: no reply to +++, and no AT+EXIT.", \.robot.isOld).rare,
    .flag("mute", "Its radio doesn't answer.", \.robot.isMute).rare,
    .text("name", "text", "Its radio's name, 1 to 13 bytes.", \.robot.name, 1...BlunoLimits.name),
    .text(
      "address", "address", "Its radio's address; default: the first free one from 0017EA930001 on.", \.address
    ).rare,
  ]

  package var problem: String? {
    if let address, BluetoothAddress(address) == nil { return "--address must be like 00:17:EA:93:97:E1" }
    return line.problem
  }

  package var serialNumber: String? { address.flatMap { BluetoothAddress($0)?.digits } }

  package func device(_ start: SimulatorStart) -> BlunoDevice {
    var robot = robot
    if let address = BluetoothAddress(start.serialNumber) { robot.address = address }
    return BlunoDevice(robot)
  }

  package static func told(_ news: BlunoDevice.News) -> SimulatorNews? {
    switch news {
    case .message(.task(let number)): SimulatorNews("task", "task \(number)", number: Int(number))
    case .message(.key(let key)): SimulatorNews("key", "key \(key.rawValue)", text: key.rawValue)
    case .message(.speed(let speed)): SimulatorNews("speed", "speed \(speed)", number: Int(speed))
    case .message(.text(let text)): SimulatorNews("text", "text \(SafeText.escape(text))", text: text)
    case .atMode(let isOn): SimulatorNews(isOn ? "at_mode_entered" : "at_mode_left", "AT mode \(isOn ? "on" : "off")")
    case .command(let text): SimulatorNews("command", "radio: \(SafeText.escape(text))", text: text)
    }
  }
}
