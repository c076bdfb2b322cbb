// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import ArgumentParser
import BridgeService
import CommandOutput
import Glibc
import Logging

struct Attach: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Keeps one accessory open, and shares it with other commands.",
    discussion: """
      If a service is running, the service opens the accessory, and the command ends. Otherwise the command itself is the \
      accessory's service until Ctrl-C. If no profile fits, name one with --profile; without a profile the device is opened for \
      raw bytes, and nothing is sent to it.

      EXAMPLES
        bridge-cli attach
        bridge-cli attach SIM0001 --wait 30s
        bridge-cli attach rfcomm:00:16:53:12:34:56 --profile ev3
        bridge-cli attach SIM0001 --end
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Make the service close the accessory until it is attached or plugged in again.")
  var end = false
  @Flag(help: "Attach the device that udev names in the environment, for a rule's RUN.")
  var udev = false
  @Option(help: .value("name", "Use this profile, even if another one fits."), completion: CompletionWords.profiles)
  var profile: String?
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var options: ServiceOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if end, udev || profile != nil || waiting.wait != nil || !options.alarms.rules.isEmpty {
      throw ValidationError("--end only closes an accessory: leave out everything but its name")
    }
    if udev, waiting.wait != nil {
      throw ValidationError("--udev is for a device that is plugged in: leave out --wait")
    }
    if udev, device.text != nil {
      throw ValidationError("--udev takes the device from the environment: leave out the device")
    }
    if udev, profile != nil { throw ValidationError("--udev uses the profile that fits: leave out --profile") }
  }

  func run() async throws {
    if udev { return try await UdevCall.run(options) }
    if end { return try await Detaching(name: device.text, json: output.json).run() }
    // Who opens a device on the air searches for it.
    let found = try await AccessoryWait.device(
      device.text, limit: waiting.wait?.duration, searching: .names)
    switch try await RunningService.takePlace(options) {
    case .taken(_, let path): try await ask(found, path)
    case .free(let sockets): try await hold(found, sockets)
    }
  }

  /// Asks the service at `place` to attach the device.
  private func ask(_ device: Device, _ place: String) async throws {
    // Alarms are the service's: the rules of a command that ends would be lost.
    guard options.alarms.rules.isEmpty else {
      throw AccessoryError(
        .unsupported,
        "nothing was attached: a service is running (\(place)), and it ignores --alarm. Add the rule to "
          + "service.yaml, or use bridge-cli watch --alarm")
    }
    let reply = try await BridgeClient.connect(to: place).attach(device.place, profile: profile)
    if let accessories = reply.accessories { return show(accessories) }
    let accessory = reply.accessory
    if accessory.state != .attached, accessory.state != .lent, let problem = accessory.problem {
      throw problem.error(or: .ioFailure)
    }
    if output.json { return Output.json(AttachDocument(accessory, wasAttached: reply.was_attached ?? false)) }
    let name = SafeText.escape(accessory.device.id)
    Output.line(
      reply.was_attached == true ? "\(name) is attached already." : "\(name) is attached: the service has it.")
  }

  /// Shows all accessories of a line.
  private func show(_ accessories: [Bridge.Accessory]) {
    for accessory in accessories {
      if output.json {
        Output.json(AttachDocument(accessory, wasAttached: false))
        continue
      }
      let name = SafeText.escape(accessory.device.id)
      if accessory.state == .attached || accessory.state == .lent {
        Output.line("\(name) is attached: the service has it.")
      } else {
        let problem = accessory.problem.map { SafeText.escape($0.message, limit: 300) } ?? accessory.state.rawValue
        Output.line("\(name) is not attached yet: \(problem)")
      }
    }
  }

  /// Holds the device in this process, as a service for it alone.
  private func hold(_ device: Device, _ sockets: ControlSockets) async throws {
    var chosen = try await chosen()
    // What a device on the air tells counts, also where the address was typed.
    if chosen == nil, device.source == .named, device.address.transport == .ble,
      let heard = try? await AccessoryWait.device(device.place, limit: nil)
    {
      chosen = await KnownProfiles.store.profile(for: heard)
    }
    let log = ServiceLog.logger(BridgeCLI.name, options.logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let service = RunningService(
      configuration: options.serviceConfiguration, log: log,
      sources: device.source == .named
        ? [] : try KnownDevices.sources().map { FilteredSource($0, to: device) as any DeviceSource },
      json: output.json, file: options.config)
    try await service.run(on: sockets, hooks: .forManager()) { service in try await service.hold(device, chosen) }
  }

  private func chosen() async throws -> Profile? {
    guard let name = profile else { return nil }
    let store = await KnownProfiles.library().store
    guard let profile = store.profile(named: name) else { throw AccessoryError(.misconfigured, store.missing(name)) }
    try checkAlarms(profile)
    return profile
  }

  /// Throws when a rule of the command line can't be compared with the values of the profile's protocol.
  private func checkAlarms(_ profile: Profile) throws(AccessoryError) {
    let description =
      profile.described?.description
      ?? profile.driver.flatMap { KnownDrivers.library.protocols.described($0)?.description }
    for rule in options.alarms.rules {
      guard let unfit = description?.misfit(of: rule) else { continue }
      throw AccessoryError(.misconfigured, "--alarm: the rule \(unfit) (profile \(profile.name))")
    }
  }
}

/// A device source, filtered to the line of one device, each time that it is there.
struct FilteredSource: DeviceSource {
  private let base: any DeviceSource
  private let again: SameAgain
  /// Whether the device has twins, which the service can't see here.
  private let hasTwin: Bool

  init(_ base: any DeviceSource, to device: Device) {
    (self.base, again, hasTwin) = (base, SameAgain(device, isLine: true), device.hasTwin)
  }

  func devices() async throws(AccessoryError) -> [Device] { try await base.devices().filter(again.fits).map(marked) }

  private func marked(_ device: Device) -> Device {
    var device = device
    device.hasTwin = hasTwin
    return device
  }

  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    let events = try await base.events()
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    let task = Task {
      for await event in events where again.fits(event.device) {
        switch event {
        case .added(let device): continuation.yield(.added(marked(device)))
        case .changed(let device, let old): continuation.yield(.changed(marked(device), from: marked(old)))
        case .removed(let device): continuation.yield(.removed(marked(device)))
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}

extension FilteredSource {
  func wait(for wishes: [DeviceWish]) async { await base.wait(for: wishes) }
}
