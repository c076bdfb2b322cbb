// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyAF1

struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulates an accessory.",
    discussion: """
      Other commands of the same user find it by themselves. Ctrl-C ends it. --list shows the kinds.

      EXAMPLES
        bridge-cli simulate --list
        bridge-cli simulate framed --link ./acc --percent 57
        bridge-cli simulate --profile jbd --percent 57
        bridge-cli simulate --profile jbd --help
        bridge-cli simulate --profile ./mine.yaml --set temperature=21.5
      """,
    subcommands: [
      SimulateDescribed.self, SimulateAF1.self, SimulateEV3.self, SimulateHM10.self, SimulateBluno.self,
      SimulateHM1X.self, SimulateMAVLink.self, SimulateUPS.self, SimulateLoopback.self,
    ],
    defaultSubcommand: SimulateDescribed.self)
}

struct SimulateAF1: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "framed",
    abstract: "Simulates an accessory that speaks AF1, on a pseudo-terminal or as a USB device.",
    discussion: """
      It answers identify, status, battery and echo, and accepts files. Faults and USB: see help simulators.

      EXAMPLES
        bridge-cli simulate framed --link ./acc --percent 57 --voltage 3712 --charge discharging
        bridge-cli simulate framed --percent 30 --drain 2
        bridge-cli simulate framed --unplug-after 5 --replug-after 2s
      """)

  @Option(help: .value("path", "Keep a link to the terminal at this path."), completion: .file()) var link: String?

  @Option(help: .value("percent", "Battery in percent, 0 to 100.")) var percent: UInt8 = 100
  @Option(help: .rare("Battery level; default: derived from the percent.")) var level: LevelArgument?
  @Option(help: .value("mV", "Battery voltage in millivolts, 0 to 65535.")) var voltage: UInt16?
  @Option(help: "The charging state.")
  var charge = ChargeArgument.discharging
  @Option(help: .value("percent", "Percent that the battery loses per second.")) var drain = 0.0
  @Option(help: .rare("hex", "Reply to battery with exactly these bytes."), transform: HexArgument.read)
  var batteryPayload: HexArgument?

  @Option(help: "The state that it reports.")
  var state = StateArgument.idle
  @Option(help: .rare("number", "Fault code, 0 for none.")) var faultCode: UInt16 = 0
  @Option(help: .rare("percent", "Progress that it reports in percent, 0 to 100.")) var progress: UInt8?

  @Option(help: .value("text", "Serial number.")) var serial: String?
  @Option(help: .value("text", "Name.")) var name = "Simulated accessory"
  @Option(help: .rare("text", "Manufacturer."))
  var manufacturer =
    "Accessory Bridge"
  @Option(help: .rare("text", "Model.")) var model = "AF1-SIM"
  @Option(help: .rare("text", "Version of its software.")) var firmware = "1.0.0"
  @Option(help: .rare("text", "Version of its hardware.")) var hardware = "A"

  @Option(help: .rare("number", "Requests that may wait for a reply at the same time, 1 to 255.")) var window: UInt8 = 1
  @Option(help: .rare("bytes", "The largest payload that it accepts, in bytes, 16 to 65535."))
  var largestPayload: UInt16 = 4_096
  @Flag(help: .rare("After a restart, forget the received part of a file.")) var forgetFiles = false

  @Option(help: .rare("share", "Share of its frames that are lost, 0 to 1.")) var drop = 0.0
  @Option(help: .rare("share", "Share of its frames in which a bit is changed, 0 to 1.")) var corrupt = 0.0
  @Option(help: .rare("share", "Share of the host's frames that are lost, 0 to 1.")) var dropRequests = 0.0
  @Option(help: .rare("share", "Share of the host's frames in which a bit is changed, 0 to 1."))
  var corruptRequests = 0.0
  @Option(help: .rare("time", "Delay every reply by this time."), transform: TimeArgument.read) var delay: TimeArgument?
  @Option(
    help: .rare("when", "When to unplug: after this time, or in the middle of the reply to this request."),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(help: .rare("time", "Plug in again this long after an unplug."), transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @Option(
    help: .rare("when", "When to restart: after this time, or after running this request and before the reply."),
    transform: MomentArgument.read)
  var rebootAfter: MomentArgument?
  @Option(help: .rare("number", "The seed of an earlier run, to repeat its random faults.")) var seed: UInt64?
  @OptionGroup var usb: USBOptions
  @OptionGroup var usbFaults: USBFaultOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard percent <= 100 else { throw ValidationError("--percent must be 0 to 100") }
    guard progress ?? 0 <= 100 else { throw ValidationError("--progress must be 0 to 100") }
    for (name, share) in [
      ("drop", drop), ("corrupt", corrupt), ("drop-requests", dropRequests), ("corrupt-requests", corruptRequests),
    ] where !(0...1).contains(share) {
      throw ValidationError("--\(name) must be a share from 0 to 1, for example 0.1")
    }
    guard window > 0 else { throw ValidationError("--window must be at least 1") }
    guard largestPayload >= 16 else { throw ValidationError("--largest-payload must be at least 16") }
    guard (0...100).contains(drain) else { throw ValidationError("--drain must be 0 to 100 percent per second") }
    if usbFaults.isAny, !usb.usb { throw ValidationError("--stall and --protocol-error need --usb") }
    if link != nil, usb.usb {
      throw ValidationError("--link is for pseudo-terminals; udev makes the links to USB devices")
    }
    if let link, link.isEmpty { throw ValidationError("--link needs a path, for example ./acc") }
    for text in [serial ?? "", name, manufacturer, model, firmware, hardware] where text.utf8.count > 256 {
      throw ValidationError("an accessory's texts can have at most 256 bytes")
    }
  }

  func run() async throws {
    let configuration = try await simulated()
    let view = SimulatorView(
      json: output.json, serial: configuration.device.identity.serialNumber, seed: configuration.seed, link: link)
    try await view.run(AF1Simulator(configuration), comesBack: replugAfter != nil) { event in
      view.show(Self.news(event, view))
      guard case .pluggedIn = event, configuration.faults.isRandom, !output.json else { return }
      Output.line("seed \(configuration.seed)")
    }
  }

  private func simulated() async throws -> AF1Simulator.Configuration {
    var configuration = AF1Simulator.Configuration(seed: seed ?? .random(in: 0 ... .max))
    configuration.link = link
    configuration.drain = drain
    configuration.faults.drop = drop
    configuration.faults.corrupt = corrupt
    configuration.faults.dropRequests = dropRequests
    configuration.faults.corruptRequests = corruptRequests
    configuration.device.window = window
    configuration.device.largestPayload = largestPayload
    configuration.device.keepsParts = !forgetFiles
    configuration.faults.delay = delay?.duration ?? .zero
    configuration.faults.unplug = unplugAfter?.moment
    configuration.faults.replug = replugAfter?.duration
    configuration.faults.reboot = rebootAfter?.moment
    configuration.device.identity = AF1Identity(
      manufacturer: manufacturer, name: name, model: model,
      serialNumber: try await SimulatedSerial.chosen(serial, or: "SIM", digits: 4, usb: usb.usb),
      firmwareVersion: firmware, hardwareVersion: hardware)
    configuration.faults.stall = usbFaults.stall
    configuration.faults.protocolError = usbFaults.protocolError
    if var identity = usb.identity {
      identity.manufacturer = manufacturer
      identity.product = name
      identity.serialNumber = configuration.device.identity.serialNumber
      configuration.connection = .usb(identity)
    }
    configuration.device.status = AF1StatusReply(state: state.state, faultCode: faultCode, progress: progress)
    configuration.device.battery = AF1BatteryReply(
      level: level?.level ?? (percent <= 20 ? .low : percent < 80 ? .normal : .high), percent: percent,
      millivolts: voltage ?? 3_300 + 9 * UInt16(percent), charge: charge.state)
    configuration.device.batteryPayload = batteryPayload?.bytes
    return configuration
  }

  private static func news(_ event: AF1Simulator.Event, _ view: SimulatorView) -> SimulatorNews {
    switch event {
    case .pluggedIn(let path): return view.pluggedIn(path)
    case .unplugged: return .unplugged
    case .restarted: return SimulatorNews("restarted", "restarted")
    case .battery(let battery):
      return SimulatorNews(
        "battery", "battery \(battery.percent.map(String.init) ?? "-") %", number: battery.percent.map { Int($0) })
    case .stored(let name, let size, let checksum):
      let text =
        "stored \(SafeText.escape(name, limit: 256)): \(Amount.bytes(size)), CRC-32 \(Hexadecimal.string(checksum))"
      return SimulatorNews("stored", text, file: SimulatorDocument.File(event))
    case .damaged(let name):
      let text = "damaged \(SafeText.escape(name, limit: 256)): its checksum differs"
      return SimulatorNews("damaged", text, file: SimulatorDocument.File(event))
    case .aborted(let name, let offset):
      let text = "aborted \(SafeText.escape(name, limit: 256)) at \(Amount.bytes(offset))"
      return SimulatorNews("aborted", text, file: SimulatorDocument.File(event))
    case .line(let state): return SimulatorNews("line", LineView.state(state), state: SimulatorDocument.Line(state))
    }
  }
}
