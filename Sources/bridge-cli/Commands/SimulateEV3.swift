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

  @Option(
    help: ArgumentHelp("Keep a link to the terminal at this path.", valueName: "path"), completion: .file())
  var link: String?
  @Option(
    help: ArgumentHelp("Listen on this network address.", valueName: "host:port"),
    transform: PlaceArgument.read)
  var tcp: PlaceArgument?
  @Flag(help: "Simulate a real USB device. Needs root and 'modprobe vhci-hcd'.")
  var usb = false

  @Option(help: ArgumentHelp("Battery in percent, 0 to 100.", valueName: "percent"))
  var percent = 100.0
  @Option(help: ArgumentHelp("Percent that the battery loses per second.", valueName: "percent"))
  var drain = 0.0
  @Option(help: ArgumentHelp("Name.", valueName: "text")) var name = "EV3"
  @Option(
    help: ArgumentHelp(
      "Serial number.", valueName: "text"))
  var serial: String?
  @Option(help: ArgumentHelp("Version of its firmware.", valueName: "text", visibility: HelpTopic.visibility))
  var firmware =
    "V1.09H"

  @Flag(
    help: ArgumentHelp(
      "Drop the link when more is sent than a brick can buffer: eight messages or 4096 bytes, at 2 ms per message.",
      visibility: HelpTopic.visibility))
  var overrun = false
  @Flag(help: ArgumentHelp("Close the host's files when it disconnects.", visibility: HelpTopic.visibility))
  var forgetFiles = false
  @Option(
    help: ArgumentHelp("Delay every reply by this time.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var delay: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "When to unplug: after this time, or in the middle of the reply to this message.", valueName: "when",
      visibility: HelpTopic.visibility),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(
    help: ArgumentHelp("Plug in again this long after an unplug.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
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

/// An address to listen at, on the command line: "127.0.0.1:5555", "[::1]:0".
struct PlaceArgument: FormArgument {
  static let form = "a host and a port, like 127.0.0.1:5555"
  let host: String
  let port: UInt16

  init?(argument: String) {
    // `NetworkAddress` rejects port 0, so it is parsed with another port. Listening at port 0 lets the kernel choose.
    let isAny = argument.hasSuffix(":0")
    guard let address = NetworkAddress(isAny ? argument.dropLast() + "1" : argument) else {
      return nil
    }
    host = address.host
    port = isAny ? 0 : address.port
  }
}
