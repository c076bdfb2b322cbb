// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyMAVLink

/// `simulate mavlink`.
package struct MAVLinkKind: SerialKind {
  package static let name = "mavlink"
  package static let abstract = "Simulates an autopilot that speaks MAVLink, on a pseudo-terminal."
  package static let discussion = """
    It sends its heartbeat, its status and its batteries, and refuses commands. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate mavlink --percent 57 --drain 0.5
      bridge-cli simulate mavlink --batteries 2 --cells 6
    """
  package static let serialNumbers = (prefix: "MAV", digits: 4)

  package var line = SimulatedLine()
  package private(set) var serialNumber: String?
  private var autopilot = MAVLinkDevice.Configuration()
  private var version = 2
  private var drain = 0.0
  private var isArmed = false
  private var state = State.standby

  private enum State: String, OptionWord {
    case uninitialized, booting, calibrating, standby, active, critical, emergency

    var number: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }
  }

  package init() {}

  package static let options = own + SimulatedLine.options.map { $0.of(\.line) }

  private static let own: [CommandOption<Self>] = [
    .whole(
      "version", "number", "The protocol version that it sends, 1 or 2; it understands both.", \.version, 1...2
    ).rare, .whole("percent", "percent", "Batteries in percent, 0 to 100.", \.autopilot.percent, 0...100),
    .number(
      "drain", "percent", "Percent that the batteries lose per second.", \.drain, 0...100, unit: "percent per second"),
    .flag("charging", "The batteries are being charged.", \.autopilot.isCharging),
    .whole("batteries", "number", "How many batteries it has, 0 to 16.", \.autopilot.batteries, 0...16).rare,
    .whole(
      "cells", "number", "How many cells each battery has, 0 to 14; 0: only the total voltage is known.",
      \.autopilot.cells, 0...14
    ).rare, .flag("armed", "The autopilot is armed: its motors may run.", \.isArmed).rare,
    .word("state", "The state that it reports.", \.state),
    .time(
      "period", "Time between two messages of the same kind, at least 10ms.", \.autopilot.period,
      atLeast: .milliseconds(10)
    ).rare,
    .words(
      "habit",
      """
      A habit of some autopilots; can be repeated. quiet: it sends only heartbeats by itself; shy: it sends nothing \
      until it hears a heartbeat; old: it doesn't know REQUEST_MESSAGE; plain: it has no BATTERY_STATUS; signed: it \
      signs its frames; crowded: others send on its line, too; mixed: every other frame is of the other version.
      """, \.autopilot.quirks
    ).rare,
    .share("garbage", "Share of its frames that have noise in front of them, 0 to 1.", \.autopilot.garbage).rare,
    .share(
      "split", "Share of its frames that come in two pieces with a pause between, 0 to 1.", \.autopilot.split
    ).rare, .time("stall-after", "Send nothing more after this time.", \.autopilot.stallAfter).rare,
    .text(
      "serial", "text", "Serial number.", \.serialNumber, 1...8, reason: "an autopilot reports no more"),
  ]

  package var problem: String? {
    version == 1 && autopilot.quirks.contains(.signed) ? "only version 2 has signed frames" : line.problem
  }

  package func device(_ start: SimulatorStart) -> MAVLinkDevice {
    var autopilot = autopilot
    autopilot.version = version == 1 ? .one : .two
    autopilot.serialNumber = start.serialNumber
    autopilot.heartbeat.state = state.number
    if isArmed { autopilot.heartbeat.mode.insert(.armed) }
    if drain > 0 { autopilot.drainInterval = .nanoseconds(Int64(1e9 / drain)) }
    autopilot.seed = start.seed
    return MAVLinkDevice(autopilot)
  }

  package static func told(_ news: MAVLinkDevice.News) -> SimulatorNews? {
    switch news {
    case .asked(let message): SimulatorNews("asked", "asked for \(name(of: message))", text: name(of: message))
    case .refused(let command): SimulatorNews("refused", "refused command \(command)", number: Int(command))
    case .heard(let system, let component):
      SimulatorNews("heard", "heard a heartbeat of \(system)/\(component)", text: "\(system)/\(component)")
    case .battery(let percent): SimulatorNews("battery", "battery \(percent) %", number: percent)
    }
  }

  private static func name(of message: UInt32) -> String {
    MAVLinkTable.definition(of: message)?.name ?? "message \(message)"
  }
}

extension MAVLinkDevice.Quirk: OptionWord {}
