// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput

/// The argument that names the device.
struct DeviceArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The accessory, where there are several.",
      valueName: "device"), completion: CompletionWords.devices)
  var text: String?
}

/// A device that a command opens, and how it is opened.
struct Target {
  /// The settings are the profile's, with the user's options in their place.
  var opener: DeviceOpener
  /// How long the device is waited for when it is absent; nil for not at all.
  var wait: Duration?

  /// The device, with the address of the chosen transport.
  var device: Device { opener.device }
  var profile: Profile? { opener.profile }
  /// Nil where no driver is known for the device.
  var driver: Driver? { opener.driver }
  /// The device's name in errors.
  var label: String { opener.label }
}

/// An accessory that this process has open.
struct OpenedAccessory {
  let device: Device
  let accessory: any Accessory
  let driver: Driver
  let profile: Profile?
  let session: AccessorySession

  /// Opens a device and makes contact. Throws `misconfigured` when no driver is known for the device, and `unsupported`
  /// when its driver lacks `ability`. Both are checked before the device is opened, since opening resets some boards.
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

  /// Runs `body`, a request to the accessory, with a note on the terminal when the reply takes long.
  static func answer<Result: Sendable, Failure>(
    of label: String, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await WaitingLine.during("waiting for \(label) to answer", body)
  }

  /// Finds the device that `text` names. With `isLine` a line counts as one device, whatever accessories are on it.
  static func find(_ text: String?, _ line: LineOptions, asLine isLine: Bool = false) async throws -> Target {
    let name = DeviceName(text)
    let devices = try await KnownDevices.devices(for: name, lines: isLine || line.driver != nil)
    let found = try name.device(among: devices)
    try await NumberedTerminals.check(found)
    let profile = try await KnownProfiles.profile(for: found, driver: line.driver)
    let device = try line.transport.choose(found, label: name.label(of: found.place))
    var opener = DeviceOpener(
      device, profile: profile, isChosen: name.choosesTransport(of: found) || line.transport.wanted != nil,
      drivers: KnownDrivers.library)
    // Naming another driver doesn't lift the write protection that the device's own profiles set.
    if line.driver != nil { opener.claims = await KnownProfiles.store.claiming(found) }
    opener.settings.terminal = line.settings(profile)
    opener.settings.usb = line.transport.settings(profile)
    // If the profile has the wanted driver, it is kept, since it is set up with the profile's numbers.
    if let name = line.driver, opener.driver?.name != name, let driver = KnownDrivers.library.driver(named: name) {
      opener.driver = driver
    }
    opener.label = name.label(of: opener.device.place)
    return Target(opener: opener, wait: line.wait)
  }

  /// The error for a device without a driver: why it can't be opened, or that no driver is known.
  static func withoutDriver(_ target: Target) async -> AccessoryError {
    if let refusal = await PortAccess.look(at: [target.device]).first?.refusal { return refusal }
    return target.opener.withoutDriver
  }

  /// Notes on standard error what a reading lacks, as the accessory or its service says.
  static func note(missing: String?) {
    if let missing { Output.note("note: \(SafeText.escape(missing, limit: 1_000))") }
  }

  /// Finds the device that `text` names, makes contact, runs `body`, and closes the accessory, also when `body` throws.
  static func with<Result: Sendable>(
    _ text: String?, _ line: LineOptions, needing ability: DriverAbility? = nil,
    _ body: (OpenedAccessory) async throws -> Result
  ) async throws -> Result {
    try await with(try await find(text, line), needing: ability, body)
  }

  /// Makes contact with a device that was found already, runs `body`, and closes the accessory, also when `body`
  /// throws.
  static func with<Result: Sendable>(
    _ target: Target, needing ability: DriverAbility? = nil, _ body: (OpenedAccessory) async throws -> Result
  ) async throws -> Result {
    let opened = try await contact(target, needing: ability)
    return try await attempt {
      try await body(opened)
    } finally: {
      await opened.accessory.close()
    }
  }
}
