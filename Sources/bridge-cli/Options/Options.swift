// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser

/// How the result is printed.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON, one document a line; errors too.")
  var json = false
}

/// A command that can print JSON.
protocol JSONCommand {
  var output: OutputOptions { get }
}

/// Which device.
struct DeviceArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The accessory; may be left out when there is just one.", valueName: "device"))
  var text: String?
}

/// A device that a command is about, and what is known of its kind.
struct Target {
  /// With the way in that is wanted as its path.
  let device: Device
  let profile: Profile?
  /// What it is called in errors.
  let label: String
}

/// An accessory that a command has open.
struct Attachment {
  let device: Device
  let accessory: any Accessory
  let driver: Driver
  let profile: Profile?
  let transport: any Transport

  /// Makes contact with a device. Throws `misconfigured` when no driver for it is known; then it isn't opened either,
  /// since that resets some boards.
  private static func contact(_ target: Target, _ line: LineOptions) async throws -> Attachment {
    guard let driver = line.driver(for: target) else { throw await withoutDriver(target) }
    let transport = try await open(target, line)
    let accessory = try await driver.open(AccessorySession(transport), profile: target.profile)
    return Attachment(
      device: target.device, accessory: accessory, driver: driver, profile: target.profile, transport: transport)
  }

  /// Finds the device that `text` means.
  static func find(_ text: String?, _ line: LineOptions) async throws -> Target {
    let found = try DeviceResolver.resolve(text, among: try await KnownDevices.devices(forOpening: text))
    let profile = await KnownProfiles.profile(for: found, driver: line.driver)
    var device = try line.way.choose(found, label: label(text, found.path))
    // Who names a node means that, whatever a profile prefers.
    let isNode = text.map { $0.contains("/") || "/dev/" + $0 == found.path } ?? false
    if line.way.wanted == nil, !isNode, let profile { device = profile.choosingWay(device) }
    return Target(device: device, profile: profile, label: label(text, device.path))
  }

  /// Why nothing can be asked of a device that no driver is known for: that, or what opening it would fail with.
  static func withoutDriver(_ target: Target) async -> AccessoryError {
    if let refusal = await PortAccess.look(at: [target.device]).first?.refusal { return refusal }
    return Driver.unknown(for: target.device, target.profile, label: target.label)
  }

  /// Opens a device by the way in that is its path.
  static func open(_ target: Target, _ line: LineOptions) async throws -> any Transport {
    let path = target.device.path
    switch target.device.way {
    case .terminal:
      return try await DescriptorTransport.open(
        line.settings(target.profile).configuration(path: path, label: target.label))
    case .usb:
      return try await USBTransport.open(
        line.way.settings(target.profile).configuration(path: path, label: target.label))
    case .network:
      guard let address = NetworkAddress(path) else {
        throw AccessoryError(.misconfigured, "\(target.label) is no place on the network")
      }
      return try await DescriptorTransport.open(address, label: target.label)
    }
  }

  /// A device is called in errors as the user called it, and otherwise by its path.
  static func label(_ text: String?, _ path: String) -> String {
    guard let text, text != path else { return path }
    return "\(text) (\(path))"
  }

  /// Finds the device that `text` means, makes contact, runs `body`, and closes whatever happens.
  static func with<Result: Sendable>(
    _ text: String?, _ line: LineOptions, _ body: (Attachment) async throws -> Result
  ) async throws -> Result {
    try await with(try await find(text, line), line, body)
  }

  /// The same for a device that was found.
  static func with<Result: Sendable>(
    _ target: Target, _ line: LineOptions, _ body: (Attachment) async throws -> Result
  ) async throws -> Result {
    let attachment = try await contact(target, line)
    do {
      let result = try await body(attachment)
      await attachment.accessory.close()
      return result
    } catch {
      await attachment.accessory.close()
      throw error
    }
  }
}
