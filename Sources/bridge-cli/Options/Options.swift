// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

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
  @Argument(
    help: ArgumentHelp(
      "The accessory; LINE@UNIT where several are on one line; may be left out when there is just one.",
      valueName: "device"), completion: CompletionWords.devices)
  var text: String?
}

/// A device that a command is about, and how it is opened.
struct Target {
  /// With its profile's settings, but for what the user says otherwise.
  var opener: DeviceOpener
  /// How long it is waited for when it isn't there; nil when it isn't waited for.
  var wait: Duration?

  /// At the address that is wanted.
  var device: Device { opener.device }
  var profile: Profile? { opener.profile }
  /// Nil where no driver is known for it.
  var driver: Driver? { opener.driver }
  /// What it is called in errors.
  var label: String { opener.label }
}

/// An accessory that a command has open.
struct OpenedAccessory {
  let device: Device
  let accessory: any Accessory
  let driver: Driver
  let profile: Profile?
  let session: AccessorySession

  /// Makes contact with a device. Throws `misconfigured` when no driver for it is known; then it isn't opened either,
  /// since that resets some boards. Likewise `unsupported` when the driver's accessories have nothing of what is needed.
  static func contact(_ target: Target, needing ability: DriverAbility? = nil) async throws -> OpenedAccessory {
    guard let driver = target.driver else { throw await withoutDriver(target) }
    if let ability { try driver.check(ability, label: target.label) }
    try target.opener.checkUnit()
    let session = try await target.unguardedSession()
    let accessory = try await answer(of: target.label) { () async throws(AccessoryError) in
      try await target.opener.contact(over: session)
    }
    return OpenedAccessory(
      device: target.device, accessory: accessory, driver: driver, profile: target.profile, session: session)
  }

  /// Runs `body`, which asks the accessory for something: a person sees what takes long.
  static func answer<Result: Sendable, Failure>(
    of label: String, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await WaitingLine.during("waiting for \(label) to answer", body)
  }

  /// Finds the device that `text` means. With `isLine` its bytes are meant: whatever is on its line.
  static func find(_ text: String?, _ line: LineOptions, asLine isLine: Bool = false) async throws -> Target {
    let devices = try await KnownDevices.devices(forOpening: text, lines: isLine || line.driver != nil)
    let found = try DeviceResolver.resolve(text, among: devices)
    let profile = try await KnownProfiles.profile(for: found, driver: line.driver)
    let device = try line.transport.choose(found, label: label(text, found.place))
    // Who names a node means that, whatever a profile prefers.
    let isNode = text.map { $0.contains("/") || "/dev/" + $0 == found.address.node } ?? false
    var opener = DeviceOpener(
      device, profile: profile, isChosen: isNode || line.transport.wanted != nil, drivers: KnownDrivers.library)
    // Who names another driver than its profile's doesn't get round what that refuses.
    if line.driver != nil { opener.claims = await KnownProfiles.store.claiming(found) }
    opener.settings.terminal = line.settings(profile)
    opener.settings.usb = line.transport.settings(profile)
    // The profile's own driver knows the numbers that the profile gives.
    if let name = line.driver, opener.driver?.name != name, let driver = KnownDrivers.library.driver(named: name) {
      opener.driver = driver
    }
    opener.label = label(text, opener.device.place)
    return Target(opener: opener, wait: line.wait)
  }

  /// Why nothing can be asked of a device that no driver is known for: that, or what opening it would fail with.
  static func withoutDriver(_ target: Target) async -> AccessoryError {
    if let refusal = await PortAccess.look(at: [target.device]).first?.refusal { return refusal }
    return target.opener.withoutDriver
  }

  /// A device is called in errors as the user called it, and otherwise by its place.
  static func label(_ text: String?, _ place: String) -> String {
    guard let text, text != place else { return place }
    return "\(text) (\(place))"
  }

  /// Finds the device that `text` means, makes contact, runs `body`, and closes whatever happens.
  static func with<Result: Sendable>(
    _ text: String?, _ line: LineOptions, needing ability: DriverAbility? = nil,
    _ body: (OpenedAccessory) async throws -> Result
  ) async throws -> Result {
    try await with(try await find(text, line), needing: ability, body)
  }

  /// The same for a device that was found.
  static func with<Result: Sendable>(
    _ target: Target, needing ability: DriverAbility? = nil, _ body: (OpenedAccessory) async throws -> Result
  ) async throws -> Result {
    let opened = try await contact(target, needing: ability)
    do {
      let result = try await body(opened)
      await opened.accessory.close()
      return result
    } catch {
      await opened.accessory.close()
      throw error
    }
  }
}
