// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyEV3

/// `simulate ev3`.
package struct EV3Kind: SimulatedKind {
  package static let name = "ev3"
  package static let abstract = "Simulates a LEGO EV3 brick, on a pseudo-terminal, on the network or as a USB device."
  package static let discussion = """
    It has four motors, three sensors, and files in memory. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate ev3 --link ./ev3 --percent 57 --drain 1
      bridge-cli simulate ev3 --tcp 127.0.0.1:5555
      sudo bridge-cli simulate ev3 --usb
    """
  package static let serialNumbers = (prefix: "001653", digits: 6)

  package private(set) var serialNumber: String?
  private var brick = EV3Simulator.Configuration(seed: 0)
  private var tcp: OptionPlace?
  private var isOverrun = false
  package private(set) var isUSBDevice = false

  package init() {}

  package static let options: [CommandOption<Self>] = [
    .path("link", "Keep a link to the terminal at this path.", \.brick.link),
    .place("tcp", "Listen on this network address.", \.tcp),
    .flag("usb", "Simulate a real USB device. Needs root and 'modprobe vhci-hcd'.", \.isUSBDevice),
    .number("percent", "percent", "Battery in percent, 0 to 100.", \.brick.device.percent, 0...100),
    .number(
      "drain", "percent", "Percent that the battery loses per second.", \.brick.device.drain, 0...100,
      unit: "percent per second"),
    .text("name", "text", "Name.", \.brick.device.name, 0...64),
    .text("serial", "text", "Serial number.", \.serialNumber, 0...64),
    .text("firmware", "text", "Version of its firmware.", \.brick.device.firmwareVersion, 0...64).rare,
    .flag(
      "overrun",
      "Drop the link when more is sent than a brick can buffer: eight messages or 4096 bytes, at 2 ms per message.",
      \.isOverrun
    ).rare, .flag("forget-files", "Close the host's files when it disconnects.", \.brick.keepsHandles, to: false).rare,
    .time("delay", "Delay every reply by this time.", \.brick.faults.delay).rare,
    .moment(
      "unplug-after", "When to unplug: after this time, or in the middle of the reply to this message.",
      \.brick.faults.unplug
    ).rare, .time("replug-after", "Plug in again this long after an unplug.", \.brick.faults.replug).rare,
  ]

  package var problem: String? {
    [link != nil, tcp != nil, isUSBDevice].count { $0 } > 1 ? "--link, --tcp and --usb can't be used together" : nil
  }

  package var link: String? { brick.link }
  package var seed: UInt64? { nil }
  package var comesBack: Bool { brick.faults.replug != nil }

  package func simulator(_ start: SimulatorStart) -> EV3Simulator {
    var brick = brick
    if let tcp { brick.connection = .network(host: tcp.host, port: tcp.port) }
    if isUSBDevice { brick.connection = .usb() }
    (brick.device.serialNumber, brick.seed) = (start.serialNumber, start.seed)
    brick.announcementDirectory = start.directory
    if isOverrun { brick.pace = .overrun }
    return EV3Simulator(brick)
  }

  package static func news(_ event: EV3Simulator.Event) -> SimulatorNews? {
    switch event {
    case .pluggedIn(let path): .pluggedIn(path)
    case .unplugged: .unplugged
    case .overrun: SimulatorNews("overrun", "overrun: the link was dropped")
    }
  }
}
