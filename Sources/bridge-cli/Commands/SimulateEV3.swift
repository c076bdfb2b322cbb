// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyEV3

struct SimulateEV3: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "ev3",
    abstract: "Simulates a LEGO EV3 brick, on a pseudo-terminal, on the network or as a USB device.",
    discussion: """
      It has four motors, three sensors, and files in memory. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate ev3 --link ./ev3 --percent 57 --drain 1
        bridge-cli simulate ev3 --tcp 127.0.0.1:5555
        sudo bridge-cli simulate ev3 --usb
      """)

  @Option(help: .value("path", "Keep a link to the terminal at this path."), completion: .file()) var link: String?
  @Option(help: .value("host:port", "Listen on this network address."), transform: PlaceArgument.read)
  var tcp: PlaceArgument?
  @Flag(help: "Simulate a real USB device. Needs root and 'modprobe vhci-hcd'.")
  var usb = false

  @Option(help: .value("percent", "Battery in percent, 0 to 100.")) var percent = 100.0
  @Option(help: .value("percent", "Percent that the battery loses per second.")) var drain = 0.0
  @Option(help: .value("text", "Name.")) var name = "EV3"
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @Option(help: .rare("text", "Version of its firmware."))
  var firmware =
    "V1.09H"

  @Flag(
    help: .rare(
      "Drop the link when more is sent than a brick can buffer: eight messages or 4096 bytes, at 2 ms per message."))
  var overrun = false
  @Flag(help: .rare("Close the host's files when it disconnects.")) var forgetFiles = false
  @Option(help: .rare("time", "Delay every reply by this time."), transform: TimeArgument.read) var delay: TimeArgument?
  @Option(
    help: .rare("when", "When to unplug: after this time, or in the middle of the reply to this message."),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(help: .rare("time", "Plug in again this long after an unplug."), transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (0...100).contains(percent) else { throw ValidationError("--percent must be 0 to 100") }
    guard (0...100).contains(drain) else { throw ValidationError("--drain must be 0 to 100 percent per second") }
    guard [link != nil, tcp != nil, usb].count(where: { $0 }) <= 1 else {
      throw ValidationError("--link, --tcp and --usb can't be used together")
    }
    if let link, link.isEmpty { throw ValidationError("--link needs a path, for example ./ev3") }
    for text in [serial ?? "", name, firmware] where text.utf8.count > 64 {
      throw ValidationError("a brick's texts can have at most 64 bytes")
    }
  }

  func run() async throws {
    var configuration = EV3Simulator.Configuration()
    if let tcp { configuration.connection = .network(host: tcp.host, port: tcp.port) }
    if usb { configuration.connection = .usb() }
    configuration.link = link
    configuration.device.percent = percent
    configuration.device.drain = drain
    configuration.device.name = name
    configuration.device.serialNumber = try await SimulatedSerial.chosen(serial, or: "001653", digits: 6, usb: usb)
    configuration.device.firmwareVersion = firmware
    if overrun { configuration.pace = .overrun }
    configuration.keepsHandles = !forgetFiles
    configuration.faults.delay = delay?.duration ?? .zero
    configuration.faults.unplug = unplugAfter?.moment
    configuration.faults.replug = replugAfter?.duration
    let view = SimulatorView(
      json: output.json, serial: configuration.device.serialNumber, seed: configuration.seed, link: link)
    try await view.run(EV3Simulator(configuration), comesBack: replugAfter != nil) { event in
      switch event {
      case .pluggedIn(let path): view.show(view.pluggedIn(path))
      case .unplugged: view.show(.unplugged)
      case .overrun: view.show(SimulatorNews("overrun", "overrun: the link was dropped"))
      }
    }
  }
}
