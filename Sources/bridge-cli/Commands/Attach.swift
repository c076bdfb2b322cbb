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
    abstract: "Holds one accessory and answers for it.",
    discussion: """
      Where a service runs, asks it to take the accessory, and ends. Otherwise holds it until Ctrl-C and answers for it \
      as the service does: status, battery, info, request, trace and files in other terminals go through this.

      A device that no profile fits is taken for what --profile says; without that it is held as bytes, and sent nothing.

      With --udev the device is the one that udev's environment names, as in a rule's RUN; a service is then started, in \
      the background, where none runs.

      EXAMPLES
        bridge-cli attach
        bridge-cli attach /dev/ttyUSB0 --reconnect-tries forever
        bridge-cli attach /dev/rfcomm0 --profile ev3
        RUN+="/usr/bin/bridge-cli attach --udev"      in a rule, where there is no systemd
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Take the device from the environment that udev sets.")
  var udev = false
  @Option(
    help: ArgumentHelp("Take it for what this profile means, whatever fits.", valueName: "name"),
    completion: CompletionWords.profiles)
  var profile: String?
  @OptionGroup var options: ServiceOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if udev, device.text != nil { throw ValidationError("--udev takes the device from the environment: name none") }
    if udev, profile != nil { throw ValidationError("--udev goes by what fits: name no profile") }
  }

  func run() async throws {
    if udev { return try await UdevCall.run(options) }
    let devices = try await KnownDevices.devices(forOpening: device.text, lines: true)
    let found = try DeviceResolver.resolve(device.text, among: devices)
    switch try await RunningService.takePlace(options.socket) {
    case .taken(_, let path): try await ask(found, path)
    case .free(let socket): try await hold(found, socket)
    }
  }

  /// Asks the service to take it.
  private func ask(_ device: Device, _ place: String) async throws {
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

  /// Shows all that are on a line.
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

  /// Holds it here.
  private func hold(_ device: Device, _ socket: ControlSocket) async throws {
    let chosen = try await chosen()
    let log = ServiceLog.logger(options.logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let service = RunningService(
      configuration: options.serviceConfiguration, log: log,
      sources: device.source == .named
        ? [] : try KnownDevices.sources().map { FilteredSource($0, id: device.line.id) as any DeviceSource },
      json: output.json)
    try await service.run(on: socket, hooks: .forManager()) { service in try await service.hold(device, chosen) }
  }

  private func chosen() async throws -> Profile? {
    guard let name = profile else { return nil }
    guard let profile = await KnownProfiles.library().store.profile(named: name) else {
      throw AccessoryError(.misconfigured, "there is no profile \(name): bridge-cli profile list shows what there is")
    }
    return profile
  }
}

struct Detach: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "detach",
    abstract: "Makes the service let an accessory go.",
    discussion: """
      The service leaves it alone until it is attached again or plugged in anew.

      EXAMPLES
        bridge-cli detach SIM0001
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let device: Bridge.Device
    if let held = try await find() {
      device = try await held.detach()
    } else {
      let name = self.device.text.map { SafeText.escape($0) } ?? "any accessory"
      throw AccessoryError(.notFound, "no service holds \(name)")
    }
    if output.json { return Output.json(DetachDocument(device: DeviceDocument(device))) }
    Output.line("\(SafeText.escape(device.id)) is let go.")
  }

  /// What is to be let go: an accessory, or a line with all that are on it.
  private func find() async throws -> BridgeDevice? {
    do {
      return try await HeldDevice.find(device.text, all: true)?.calls
    } catch let error as ResolutionError where error.unitsOfALine != nil {
      guard let held = try await HeldDevice.find(device.text, all: true, asLine: true) else { return nil }
      return held.calls.client.device(held.accessory.device.path, label: device.text)
    }
  }
}

/// The devices of a source that have one identity.
struct FilteredSource: DeviceSource {
  private let base: any DeviceSource
  private let id: String

  init(_ base: any DeviceSource, id: String) {
    self.base = base
    self.id = id
  }

  func devices() async throws(AccessoryError) -> [Device] { try await base.devices().filter { $0.id == id } }

  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    let events = try await base.events()
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    let task = Task { [id] in
      for await event in events where event.device.id == id { continuation.yield(event) }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}

extension DeviceEvent {
  /// The device that it is about, as it is now.
  fileprivate var device: Device {
    switch self {
    case .added(let device), .changed(let device, _), .removed(let device): device
    }
  }
}
