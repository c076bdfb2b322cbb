// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyHIDPower

/// `simulate ups`.
package struct UPSKind: SimulatedKind {
  package static let name = "ups"
  package static let abstract = "Simulates a UPS on USB, which every program for UPSs can use."
  package static let discussion = """
    It is a device of the kernel's virtual USB port: this needs root and the module vhci-hcd.
    SIGUSR1 cuts the power at its input, and gives it back. Faults: see help simulators.

    EXAMPLES
      bridge-cli simulate ups
      bridge-cli simulate ups --model cyberpower --percent 60 --runtime 5m
    """
  package static let serialNumbers = (prefix: "UPS", digits: 4)
  package static let onSignal: (@Sendable (UPSSimulator) async -> Void)? = { await $0.setMains(!$0.state.hasMains) }

  package private(set) var serialNumber: String?
  private var ups = UPSSimulator.Configuration()
  private var percent = 100
  private var runTime = Duration.seconds(2_400)
  private var unplugAfter: Duration?

  package init() {}

  package static let options: [CommandOption<Self>] = [
    .word("model", "Whose UPS.", \.ups.model).calling("name"),
    .whole("percent", "0-100", "Its charge.", \.percent, 0...100),
    .time("runtime", "How long a full battery lasts; default: 40m.", \.runTime),
    .flag("on-battery", "Begin without power at its input.", \.ups.state.hasMains, to: false),
    .flag("drops", "Leave the bus for a second whenever the power goes or comes.", \.ups.dropsAtPowerEvents).rare,
    .flag("refuses-first", "Refuse each feature report once.", \.ups.refusesFirst).rare,
    .flag("long-descriptor", "Have a report descriptor too long for kernels.", \.ups.hasLongDescriptor).rare,
    .whole(
      "descriptor-limit", "bytes", "Hand over only so many bytes of the report descriptor.", \.ups.descriptorLimit,
      0...Int.max
    ).rare,
    .time("silent-after", "Go silent after this time, until it is reset on its bus.", \.ups.silentAfter).rare,
    .text("serial", "text", "Serial number.", \.serialNumber),
    .time("unplug-after", "Unplug it after this time.", \.unplugAfter).rare,
    .time("replug-after", "Plug in again this long after an unplug.", \.ups.faults.replug).rare,
  ]

  package var isUSBDevice: Bool { true }
  package var link: String? { nil }
  /// Nothing in it is random.
  package var seed: UInt64? { 0 }
  package var comesBack: Bool { ups.faults.replug != nil || ups.dropsAtPowerEvents }

  package func simulator(_ start: SimulatorStart) -> UPSSimulator {
    var ups = ups
    let hasMains = ups.state.hasMains
    ups.state = UPSState(percent: Double(percent), fullRunTime: Double(runTime.components.seconds))
    ups.state.hasMains = hasMains
    ups.serialNumber = start.serialNumber
    ups.faults.unplug = unplugAfter.map { .after($0) }
    return UPSSimulator(ups)
  }

  package static func news(_ event: UPSSimulator.Event) -> SimulatorNews? {
    switch event {
    case .pluggedIn(let path): .pluggedIn(path)
    case .unplugged: .unplugged
    case .power(true): SimulatorNews("power", "the power is back", text: "on")
    case .power(false): SimulatorNews("power", "the power is cut: it runs on battery", text: "off")
    case .charge(let percent): SimulatorNews("battery", "battery \(percent) %", number: percent)
    case .set(let name, let number): SimulatorNews("set", "\(name) was set to \(number)", text: name, number: number)
    case .silent: SimulatorNews("silent", "it doesn't answer any more: a reset on its bus brings it back")
    case .off: SimulatorNews("off", "the output is off: what is plugged in there has no power")
    }
  }
}

extension UPSModel: OptionWord {}
