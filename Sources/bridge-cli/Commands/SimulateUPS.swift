// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput
import FamilyHIDPower
import Glibc

extension UPSModel: ExpressibleByArgument {}

struct SimulateUPS: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "ups",
    abstract: "Simulates a UPS on USB, which every program for UPSs can use.",
    discussion: """
      It is a device of the kernel's virtual USB port: this needs root and the module vhci-hcd.
      SIGUSR1 cuts the power at its input, and gives it back. Faults: see help simulators.

      EXAMPLES
        bridge-cli simulate ups
        bridge-cli simulate ups --model cyberpower --percent 60 --runtime 5m
      """)

  @Option(help: .value("name", "Whose UPS.")) var model = UPSModel.plain
  @Option(help: .value("0-100", "Its charge.")) var percent = 100
  @Option(
    help: .value("time", "How long a full battery lasts; default: 40m."),
    transform: TimeArgument.read)
  var runtime: TimeArgument?
  @Flag(help: "Begin without power at its input.") var onBattery = false
  @Flag(
    help: .rare("Leave the bus for a second whenever the power goes or comes."))
  var drops = false
  @Flag(help: .rare("Refuse each feature report once."))
  var refusesFirst = false
  @Flag(help: .rare("Have a report descriptor too long for kernels.")) var longDescriptor = false
  @Option(
    help: .rare("bytes", "Hand over only so many bytes of the report descriptor."))
  var descriptorLimit: Int?
  @Option(
    help: .rare("time", "Go silent after this time, until it is reset on its bus."),
    transform: TimeArgument.read)
  var silentAfter: TimeArgument?
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @Option(
    help: .rare("time", "Unplug it after this time."),
    transform: TimeArgument.read)
  var unplugAfter: TimeArgument?
  @Option(
    help: .rare("time", "Plug in again this long after an unplug."),
    transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (0...100).contains(percent) else { throw ValidationError("--percent must be 0 to 100") }
    if let descriptorLimit, descriptorLimit < 0 { throw ValidationError("--descriptor-limit must be 0 or more") }
  }

  func run() async throws {
    var configuration = UPSSimulator.Configuration()
    configuration.model = model
    let runtime = runtime?.duration ?? .seconds(2_400)
    configuration.state = UPSState(percent: Double(percent), fullRunTime: Double(runtime.components.seconds))
    configuration.state.hasMains = !onBattery
    configuration.serialNumber = try await SimulatedSerial.chosen(serial, or: "UPS", digits: 4, usb: true)
    configuration.hasLongDescriptor = longDescriptor
    configuration.descriptorLimit = descriptorLimit
    configuration.refusesFirst = refusesFirst
    configuration.dropsAtPowerEvents = drops
    configuration.silentAfter = silentAfter?.duration
    configuration.faults.unplug = unplugAfter.map { .after($0.duration) }
    configuration.faults.replug = replugAfter?.duration
    let simulator = UPSSimulator(configuration)
    let handler = try? Signals([SIGUSR1]) { _ in
      Task { await simulator.setMains(!simulator.state.hasMains) }
    }
    let view = SimulatorView(json: output.json, serial: configuration.serialNumber, seed: 0, link: nil)
    try await view.run(simulator, comesBack: replugAfter != nil || drops) { event in
      view.show(Self.shown(event, view))
    }
    withExtendedLifetime(handler) {}
  }

  private static func shown(_ event: UPSSimulator.Event, _ view: SimulatorView) -> SimulatorNews {
    switch event {
    case .pluggedIn(let path): view.pluggedIn(path)
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
