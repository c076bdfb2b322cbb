// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyMAVLink

struct SimulateMAVLink: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "mavlink",
    abstract: "Simulates an autopilot that speaks MAVLink, on a pseudo-terminal.",
    discussion: """
      It sends its heartbeat, its status and its batteries, and refuses commands. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate mavlink --percent 57 --drain 0.5
        bridge-cli simulate mavlink --batteries 2 --cells 6
      """)

  @Option(help: .rare("number", "The protocol version that it sends, 1 or 2; it understands both.")) var version = 2
  @Option(help: .value("percent", "Batteries in percent, 0 to 100.")) var percent = 87
  @Option(help: .value("percent", "Percent that the batteries lose per second.")) var drain = 0.0
  @Flag(help: "The batteries are being charged.")
  var charging = false
  @Option(help: .rare("number", "How many batteries it has, 0 to 16.")) var batteries = 1
  @Option(help: .rare("number", "How many cells each battery has, 0 to 14; 0: only the total voltage is known."))
  var cells = 4
  @Flag(help: .rare("The autopilot is armed: its motors may run.")) var armed = false
  @Option(help: "The state that it reports.")
  var state = StateArgument.standby
  @Option(
    help: .rare("time", "Time between two messages of the same kind, at least 10ms."), transform: TimeArgument.read)
  var period: TimeArgument?
  @Option(
    help: .rare(
      """
      A habit of some autopilots; can be repeated. quiet: it sends only heartbeats by itself; shy: it sends nothing \
      until it hears a heartbeat; old: it doesn't know REQUEST_MESSAGE; plain: it has no BATTERY_STATUS; signed: it \
      signs its frames; crowded: others send on its line, too; mixed: every other frame is of the other version.
      """))
  var habit: [MAVLinkDevice.Quirk] = []
  @Option(help: .rare("share", "Share of its frames that have noise in front of them, 0 to 1.")) var garbage = 0.0
  @Option(help: .rare("share", "Share of its frames that come in two pieces with a pause between, 0 to 1."))
  var split = 0.0
  @Option(help: .rare("time", "Send nothing more after this time."), transform: TimeArgument.read)
  var stallAfter: TimeArgument?
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @OptionGroup var options: SimulatorOptions
  var output: OutputOptions { options.output }

  enum StateArgument: String, ExpressibleByArgument, CaseIterable {
    case uninitialized, booting, calibrating, standby, active, critical, emergency

    var number: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }
  }

  func validate() throws {
    guard (1...2).contains(version) else { throw ValidationError("--version must be 1 or 2") }
    guard (0...100).contains(percent) else { throw ValidationError("--percent must be 0 to 100") }
    guard (0...100).contains(drain) else { throw ValidationError("--drain must be 0 to 100 percent per second") }
    guard (0...16).contains(batteries) else { throw ValidationError("--batteries must be 0 to 16") }
    guard (0...14).contains(cells) else { throw ValidationError("--cells must be 0 to 14") }
    guard (0...1).contains(garbage) else {
      throw ValidationError("--garbage must be a share from 0 to 1, for example 0.1")
    }
    guard (0...1).contains(split) else { throw ValidationError("--split must be a share from 0 to 1, for example 0.1") }
    if let period, period.duration < .milliseconds(10) { throw ValidationError("--period must be at least 10ms") }
    guard (1...8).contains(serial?.utf8.count ?? 1) else {
      throw ValidationError("--serial must have 1 to 8 bytes: an autopilot reports no more")
    }
    if version == 1, habit.contains(.signed) { throw ValidationError("only version 2 has signed frames") }
  }

  func run() async throws {
    var configuration = MAVLinkDevice.Configuration()
    configuration.version = version == 1 ? .one : .two
    configuration.serialNumber = try await SimulatedSerial.chosen(serial, or: "MAV", digits: 4)
    configuration.heartbeat.state = state.number
    if armed { configuration.heartbeat.mode.insert(.armed) }
    configuration.percent = percent
    configuration.isCharging = charging
    if drain > 0 { configuration.drainInterval = .nanoseconds(Int64(1e9 / drain)) }
    configuration.batteries = batteries
    configuration.cells = cells
    if let period { configuration.period = period.duration }
    configuration.quirks = Set(habit)
    (configuration.garbage, configuration.split) = (garbage, split)
    configuration.stallAfter = stallAfter?.duration
    let seed = options.seed ?? .random(in: 0 ... .max)
    configuration.seed = seed
    try await options.run(MAVLinkDevice(configuration), serial: configuration.serialNumber, seed: seed) { news in
      switch news {
      case .asked(let message):
        SimulatorNews("asked", "asked for \(Self.name(of: message))", text: Self.name(of: message))
      case .refused(let command): SimulatorNews("refused", "refused command \(command)", number: Int(command))
      case .heard(let system, let component):
        SimulatorNews("heard", "heard a heartbeat of \(system)/\(component)", text: "\(system)/\(component)")
      case .battery(let percent): SimulatorNews("battery", "battery \(percent) %", number: Int(percent))
      }
    }
  }

  private static func name(of message: UInt32) -> String {
    MAVLinkTable.definition(of: message)?.name ?? "message \(message)"
  }
}

extension MAVLinkDevice.Quirk: ExpressibleByArgument {}
