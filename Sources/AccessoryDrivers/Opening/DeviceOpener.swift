// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink

/// Opens one device. This is the only way from a device, its profile and the settings that are asked for to an open
/// transport, a session and an accessory; commands, the service, `ExternalAccessory` and programs all take it.
///
///     let opener = DeviceOpener(device, profile: profiles.profile(for: device))
///     let accessory = try await opener.accessory()
///
/// Nothing is sent to a device whose protocol isn't known: `transport()` and `session()` send nothing at all, and
/// `accessory()` throws before it opens the device when there is no driver.
///
/// Where the device's protocol has commands that change something in it, these, and its bytes, are only for who sets
/// `asksToWrite`, and if the profile allows writes; see `WriteRules`.
public struct DeviceOpener: Sendable {
  /// What is opened, at its `address`.
  public var device: Device
  /// What is known of its kind; nil when no profile fits it.
  public var profile: Profile?
  /// How it is opened: as the profile says, unless changed.
  public var settings: TransportSettings
  /// The driver that speaks its protocol: the one that is known for it, unless changed. Nil when there is none, and the
  /// device is bytes.
  public var driver: Driver?
  /// What the device is called in errors: its address, unless changed.
  public var label: String
  /// Hears every byte that passes, from the first on.
  public var tap: (any TransportTap)?
  /// The thread that does the I/O.
  public var io = IOThread.shared
  /// Where time limits come from.
  public var clock: any TimerClock = IOThread.shared

  /// The lines that are open already, for several accessories on one.
  public var lines = SharedLines.shared

  /// Whether who opens it asks to change something in it.
  public var asksToWrite = false
  /// The profiles that claim the device, where `profile` was chosen whatever fits: what they refuse is refused.
  package var claims: [Profile] = []

  private let drivers: DriverLibrary

  /// Opens `device` by the transport that `profile` prefers, or else at the device's address. With `isChosen` the
  /// device's address was chosen, by its user or by who holds it, and is taken whatever the profile prefers.
  public init(
    _ device: Device, profile: Profile? = nil, isChosen: Bool = false, drivers: DriverLibrary = .builtIn
  ) {
    let device = isChosen ? device : profile?.choosingTransport(device) ?? device
    self.device = device
    self.profile = profile
    self.drivers = drivers
    settings = profile?.transport ?? TransportSettings()
    driver = drivers.driver(for: device, profile)
    label = device.place
  }

  /// What may be sent to the device: by the driver that speaks with it, and all others that may be meant for it.
  public var writeRules: WriteRules {
    var rules = WriteRules(label)
    let named = profile == nil ? nil : drivers.driver(for: device, profile)
    rules.add(driver, profile)
    if let named, named.name != driver?.name { rules.add(named, profile) }
    for claim in claims where claim != profile { rules.add(drivers.driver(for: device, claim), claim) }
    if let name = device.driver, !rules.names(name) { rules.add(drivers.driver(named: name), nil) }
    return rules
  }

  /// Opens the device. Throws what opening a transport of its kind throws: `notFound`, `permissionDenied`, `busy`,
  /// `misconfigured`, `unsupported`, `timedOut`, `disconnected`; and `permissionDenied` where bytes may be a write and
  /// `writeRules` refuse that.
  public func transport() async throws(AccessoryError) -> any Transport {
    try writeRules.checkBytes(isAsked: asksToWrite)
    return try await unguardedTransport()
  }

  /// The same for who sends nothing but what a driver makes, or nothing at all.
  package func unguardedTransport() async throws(AccessoryError) -> any Transport {
    let transport: any Transport
    switch device.address {
    case .terminal(let path):
      transport = try await DescriptorTransport.open(terminal(path).configuration(path: path, label: label), io: io)
    case .usb(let path):
      transport = try await USBTransport.open(settings.usb.configuration(path: path, label: label), io: io)
    case .tcp(let place):
      transport = try await DescriptorTransport.open(place, label: label, io: io)
    case .unix(let path):
      transport = try await DescriptorTransport.open(unix: path, label: label, io: io)
    case .rfc2217(let place):
      transport = try await RFC2217Transport.open(
        place, settings.terminal.configuration(path: device.address.description, label: label), io: io)
    }
    guard let tap else { return transport }
    return TappedTransport(transport, tap: tap)
  }

  /// The settings of a terminal. What a profile wants of modem lines is for cables that take their supply from them: a
  /// pseudo-terminal has none, and needs none. Only who asks for them otherwise is told so.
  private func terminal(_ path: String) -> TerminalSettings {
    var terminal = settings.terminal
    guard let wanted = profile?.transport.terminal, device.source == .simulator || path.hasPrefix("/dev/pts/") else {
      return terminal
    }
    if terminal.dtr == wanted.dtr { terminal.dtr = .keep }
    if terminal.rts == wanted.rts { terminal.rts = .keep }
    return terminal
  }

  /// Opens the device, for whoever speaks its protocol themselves. Throws what `transport()` throws.
  public func session() async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await transport())
  }

  /// The same for who only listens, or lets the driver make contact over it.
  package func unguardedSession() async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await unguardedTransport())
  }

  /// Opens the device, and does what must be done before others speak its protocol: a brick on the network wants to be
  /// greeted. Throws what `transport()` and the driver's greeting throw; then the device is closed.
  public func greetedSession() async throws(AccessoryError) -> AccessorySession {
    let session = try await session()
    // Not in the catch clause: the optimizer of Swift 6.3.1 crashes on some awaits there.
    let failure: AccessoryError
    do throws(AccessoryError) {
      try await driver?.greet(over: session, clock: clock)
      return session
    } catch {
      failure = error
    }
    await session.close()
    throw failure
  }

  /// Opens the device and makes contact with the accessory.
  ///
  /// Throws `misconfigured` without a driver, and then the device isn't opened, as that resets some boards; otherwise
  /// what `transport()` and the driver throw, and then the device is closed.
  public func accessory() async throws(AccessoryError) -> any Accessory {
    guard driver != nil else { throw withoutDriver }
    try checkUnit()
    if isOnSharedLine { return try await sharedAccessory().accessory }
    return try await contact(over: try await unguardedSession())
  }

  /// Makes contact over a session that was opened before, which belongs to the accessory from now on and is closed if
  /// that fails. Throws as `accessory()` does.
  public func contact(over session: AccessorySession) async throws(AccessoryError) -> any Accessory {
    guard let driver else { throw withoutDriver }
    let rules: WriteRules
    let refusal: AccessoryError
    do throws(AccessoryError) {
      rules = try checkedRules()
      return guarded(try await driver.open(session, profile: profile, unit: device.unit, clock: clock), rules)
    } catch {
      refusal = error
    }
    await session.close()
    throw refusal
  }

  /// The rules for what the driver sends. Throws `permissionDenied`: to an accessory that has writes, what another driver says
  /// is bytes.
  func checkedRules() throws(AccessoryError) -> WriteRules {
    let rules = writeRules
    if let driver, rules.hasWrites, !rules.names(driver.name), let refusal = rules.refusalOfBytes(isAsked: asksToWrite)
    {
      throw refusal
    }
    return rules
  }

  /// The accessory, kept from what may change it unless that is permitted.
  func guarded(_ accessory: any Accessory, _ rules: WriteRules) -> any Accessory {
    rules.hasWrites ? GuardedAccessory(base: accessory, rules: rules, isAsked: asksToWrite) : accessory
  }

  /// Throws `misconfigured` when the driver knows no such unit, and where the profile says that several accessories are on the
  /// line, and nobody which one is meant. Bytes need no unit: without a driver nothing is thrown.
  public func checkUnit() throws(AccessoryError) {
    guard let driver else { return }
    try driver.check(device.unit, label: label)
    guard device.unit == nil, let profile, profile.units != nil else { return }
    throw AccessoryError(
      .misconfigured,
      "several accessories are on \(label), by the profile \(profile.name): say which, like \(device.id)@1")
  }

  /// Why nothing can be asked of the device when no driver is known for it.
  public var withoutDriver: AccessoryError { drivers.unknown(for: device, profile, label: label) }
}
