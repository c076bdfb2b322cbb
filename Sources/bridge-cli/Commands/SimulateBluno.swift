// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyBluno
import FamilyHM1X

struct SimulateBluno: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "bluno",
    abstract: "Simulates a robot with a Bluno board, on a pseudo-terminal.",
    discussion: """
      It prints what it receives, answers task 0, and its radio has an AT mode. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate bluno --link ./robot
        bridge-cli simulate bluno --say "all is well" --every 5s
      """)

  @Flag(help: .rare("Read lines; default: single characters.")) var lines = false
  @Option(help: .value("text", "Send this text again and again.")) var say: String?
  @Option(help: .rare("time", "The time between two texts of --say; default: 1s."), transform: TimeArgument.read)
  var every: TimeArgument?
  @Flag(help: .rare("Its radio is older than 1.8: no reply to +++, and no AT+EXIT.")) var old = false
  @Flag(help: .rare("Its radio doesn't answer.")) var mute = false
  @Option(help: .value("text", "Its radio's name, 1 to 13 bytes.")) var name = "Bluno"
  @Option(help: .rare("address", "Its radio's address; default: the first free one from 0017EA930001 on."))
  var address: String?
  @OptionGroup var options: SimulatorOptions
  var output: OutputOptions { options.output }

  func validate() throws {
    guard (1...BlunoLimits.name).contains(name.utf8.count) else {
      throw ValidationError("--name must have 1 to 13 bytes")
    }
    guard say?.utf8.count ?? 1 <= 1_024 else { throw ValidationError("--say must be at most 1024 bytes") }
    if let every, every.duration < .milliseconds(10) { throw ValidationError("--every must be at least 10ms") }
    if let address, BluetoothAddress(address) == nil {
      throw ValidationError("--address must be like 00:17:EA:93:97:E1")
    }
  }

  func run() async throws {
    var configuration = BlunoDevice.Configuration()
    configuration.readsLines = lines
    configuration.says = say
    configuration.interval = every?.duration ?? .seconds(1)
    configuration.isOld = old
    configuration.isMute = mute
    configuration.name = name
    let serial = try await SimulatedSerial.chosen(address, or: "0017EA93", digits: 4)
    if let address = BluetoothAddress(serial) { configuration.address = address }
    try await options.run(
      BlunoDevice(configuration), serial: configuration.address.digits, seed: options.seed ?? .random(in: 0 ... .max),
      as: .bluno
    ) { news in
      switch news {
      case .message(let message): Self.news(message)
      case .atMode(let isOn): SimulatorNews(isOn ? "at_mode_entered" : "at_mode_left", "AT mode \(isOn ? "on" : "off")")
      case .command(let text): SimulatorNews("command", "radio: \(SafeText.escape(text))", text: text)
      }
    }
  }

  private static func news(_ message: BlunoMessage) -> SimulatorNews {
    switch message {
    case .task(let number): SimulatorNews("task", "task \(number)", number: Int(number))
    case .key(let key): SimulatorNews("key", "key \(key.rawValue)", text: key.rawValue)
    case .speed(let speed): SimulatorNews("speed", "speed \(speed)", number: Int(speed))
    case .text(let text): SimulatorNews("text", "text \(SafeText.escape(text))", text: text)
    }
  }
}

struct SimulateHM1X: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "hm1x",
    abstract: "Simulates a car that takes HM-1X control frames, on a pseudo-terminal.",
    discussion: """
      It prints what it receives when that changes. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate hm1x
      """)

  @Flag(help: .rare("Split frames at colons, as simple firmware does; default: read four bytes at a time."))
  var naive = false
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @OptionGroup var options: SimulatorOptions
  var output: OutputOptions { options.output }

  func run() async throws {
    var configuration = HM1XDevice.Configuration()
    configuration.receiver = naive ? .naive : .window
    configuration.serialNumber = try await SimulatedSerial.chosen(serial, or: "CAR", digits: 4)
    try await options.run(
      HM1XDevice(configuration), serial: configuration.serialNumber, seed: options.seed ?? .random(in: 0 ... .max)
    ) { frame in
      let lights =
        (frame.headlights ? ", headlights" : "") + (frame.brakeLights ? ", brake lights" : "")
      let text = "steering \(frame.steering), acceleration \(frame.acceleration)\(lights)"
      return SimulatorNews("frame", text, text: text, bytes: frame.encoded())
    }
  }
}
