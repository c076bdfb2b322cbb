// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyAF1

/// `simulate framed`.
package struct AF1Kind: SimulatedKind {
  package static let name = "framed"
  package static let abstract = "Simulates an accessory that speaks AF1, on a pseudo-terminal or as a USB device."
  package static let discussion = """
    It answers identify, status, battery and echo, and accepts files. Faults and USB: see help simulators.

    EXAMPLES
      bridge-cli simulate framed --link ./acc --percent 57 --voltage 3712 --charge discharging
      bridge-cli simulate framed --percent 30 --drain 2
      bridge-cli simulate framed --unplug-after 5 --replug-after 2s
    """
  package static let serialNumbers = (prefix: "SIM", digits: 4)

  package private(set) var serialNumber: String?
  package private(set) var seed: UInt64?
  private var accessory = AF1Simulator.Configuration(seed: 0)
  private var percent: UInt8 = 100
  private var level: Level?
  private var voltage: UInt16?
  private var charge = Charge.discharging
  private var state = State.idle
  private var usb = SimulatedUSB()
  private var busFaults = SimulatedBusFaults()

  private enum Level: String, OptionWord {
    case low, normal, high, unknown

    var level: BatteryLevel {
      switch self {
      case .low: .low
      case .normal: .normal
      case .high: .high
      case .unknown: .notInitialized
      }
    }
  }

  private enum Charge: String, OptionWord {
    case charging, discharging, full, unknown

    var state: ChargeState {
      switch self {
      case .charging: .charging
      case .discharging: .discharging
      case .full: .full
      case .unknown: .unknown
      }
    }
  }

  private enum State: String, OptionWord {
    case idle, busy, paused, fault, unknown

    var state: AccessoryState {
      switch self {
      case .idle: .idle
      case .busy: .busy
      case .paused: .paused
      case .fault: .fault
      case .unknown: .notInitialized
      }
    }
  }

  package init() {}

  package static let options =
    own + SimulatedUSB.options.map { $0.of(\.usb) } + SimulatedBusFaults.options.map { $0.of(\.busFaults) }

  private static let own: [CommandOption<Self>] = [
    .path("link", "Keep a link to the terminal at this path.", \.accessory.link),
    .whole("percent", "percent", "Battery in percent, 0 to 100.", \.percent, 0...100),
    .word("level", "Battery level; default: derived from the percent.", \.level).rare,
    .whole("voltage", "mV", "Battery voltage in millivolts, 0 to 65535.", \.voltage, 0...65_535),
    .word("charge", "The charging state.", \.charge),
    .number(
      "drain", "percent", "Percent that the battery loses per second.", \.accessory.drain, 0...100,
      unit: "percent per second"),
    .bytes("battery-payload", "Reply to battery with exactly these bytes.", \.accessory.device.batteryPayload).rare,
    .word("state", "The state that it reports.", \.state),
    .whole(
      "fault-code", "number", "Fault code, 0 for none.", \.accessory.device.status.faultCode, 0...65_535
    ).rare,
    .whole(
      "progress", "percent", "Progress that it reports in percent, 0 to 100.", \.accessory.device.status.progress,
      0...100
    ).rare, .text("serial", "text", "Serial number.", \.serialNumber),
    .text("name", "text", "Name.", \.accessory.device.identity.name, texts),
    .text("manufacturer", "text", "Manufacturer.", \.accessory.device.identity.manufacturer, texts).rare,
    .text("model", "text", "Model.", \.accessory.device.identity.model, texts).rare,
    .text("firmware", "text", "Version of its software.", \.accessory.device.identity.firmwareVersion, texts).rare,
    .text("hardware", "text", "Version of its hardware.", \.accessory.device.identity.hardwareVersion, texts).rare,
    .whole(
      "window", "number", "Requests that may wait for a reply at the same time, 1 to 255.", \.accessory.device.window,
      1...255
    ).rare,
    .whole(
      "largest-payload", "bytes", "The largest payload that it accepts, in bytes, 16 to 65535.",
      \.accessory.device.largestPayload, 16...65_535
    ).rare,
    .flag(
      "forget-files", "After a restart, forget the received part of a file.", \.accessory.device.keepsParts, to: false
    ).rare, .share("drop", "Share of its frames that are lost, 0 to 1.", \.accessory.faults.drop).rare,
    .share(
      "corrupt", "Share of its frames in which a bit is changed, 0 to 1.", \.accessory.faults.corrupt
    ).rare,
    .share("drop-requests", "Share of the host's frames that are lost, 0 to 1.", \.accessory.faults.dropRequests).rare,
    .share(
      "corrupt-requests", "Share of the host's frames in which a bit is changed, 0 to 1.",
      \.accessory.faults.corruptRequests
    ).rare, .time("delay", "Delay every reply by this time.", \.accessory.faults.delay).rare,
    .moment(
      "unplug-after", "When to unplug: after this time, or in the middle of the reply to this request.",
      \.accessory.faults.unplug
    ).rare, .time("replug-after", "Plug in again this long after an unplug.", \.accessory.faults.replug).rare,
    .moment(
      "reboot-after", "When to restart: after this time, or after running this request and before the reply.",
      \.accessory.faults.reboot
    ).rare, .natural("seed", "number", "The seed of an earlier run, to repeat its random faults.", \.seed).rare,
  ]

  private static let texts = 0...AF1Identity.longestText

  package var problem: String? {
    if busFaults.isAny, !usb.usb { return "--stall and --protocol-error need --usb" }
    if link != nil, usb.usb { return "--link is for pseudo-terminals; udev makes the links to USB devices" }
    return usb.problem
  }

  package var link: String? { accessory.link }
  package var isUSBDevice: Bool { usb.usb }
  package var comesBack: Bool { accessory.faults.replug != nil }
  package var isRandom: Bool { accessory.faults.isRandom }

  package func simulator(_ start: SimulatorStart) -> AF1Simulator {
    var accessory = accessory
    accessory.seed = start.seed
    accessory.announcementDirectory = start.directory
    accessory.device.identity.serialNumber = start.serialNumber
    accessory.device.status.state = state.state
    accessory.device.battery = AF1BatteryReply(
      level: level?.level ?? (percent <= 20 ? .low : percent < 80 ? .normal : .high), percent: percent,
      millivolts: voltage ?? 3_300 + 9 * UInt16(percent), charge: charge.state)
    (accessory.faults.stall, accessory.faults.protocolError) = (busFaults.stall, busFaults.protocolError)
    if var identity = usb.identity {
      identity.manufacturer = accessory.device.identity.manufacturer
      identity.product = accessory.device.identity.name
      identity.serialNumber = start.serialNumber
      accessory.connection = .usb(identity)
    }
    return AF1Simulator(accessory)
  }

  package static func news(_ event: AF1Simulator.Event) -> SimulatorNews? {
    switch event {
    case .pluggedIn(let path): return .pluggedIn(path)
    case .unplugged: return .unplugged
    case .restarted: return SimulatorNews("restarted", "restarted")
    case .battery(let battery):
      return SimulatorNews(
        "battery", "battery \(battery.percent.map(String.init) ?? "-") %", number: battery.percent.map { Int($0) })
    case .stored(let name, let size, let checksum):
      let text =
        "stored \(SafeText.escape(name, limit: 256)): \(Amount.bytes(size)), CRC-32 \(Hexadecimal.string(checksum))"
      return SimulatorNews("stored", text, file: .init(name, size: size, checksum: checksum))
    case .damaged(let name):
      let text = "damaged \(SafeText.escape(name, limit: 256)): its checksum differs"
      return SimulatorNews("damaged", text, file: .init(name))
    case .aborted(let name, let offset):
      let text = "aborted \(SafeText.escape(name, limit: 256)) at \(Amount.bytes(offset))"
      return SimulatorNews("aborted", text, file: .init(name, size: offset))
    case .line(let state): return .line(state)
    }
  }
}
