// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryLink

/// Opens a device: makes a transport, a session or an accessory from a device, its profile and its settings. Commands,
/// the service, `ExternalAccessory` and other programs all open devices with it.
///
///     let opener = DeviceOpener(device, profile: profiles.profile(for: device))
///     let accessory = try await opener.accessory()
///
/// Nothing is sent to a device whose protocol isn't known: `transport()` and `session()` send nothing, and without a
/// driver `accessory()` throws before it opens the device. Bluetooth Low Energy devices have standard services for
/// their battery and their maker: without a driver, `accessory()` reads these.
///
/// Commands that change the accessory, and raw bytes that may, need `asksToWrite` and a profile that allows writes; see
/// `WriteRules`.
public struct DeviceOpener: Sendable {
  /// The device to open, at its `address`.
  public var device: Device
  /// The device's profile; nil when none matches.
  public var profile: Profile? {
    get { boxedProfile }
    set { boxedProfile = newValue }
  }
  @Boxed private var boxedProfile: Profile?
  /// The settings of the transport. The default is those of the profile.
  public var settings: TransportSettings
  /// The driver for the device's protocol. The default is the one that the profile or the device's announcement names.
  /// Nil when there is none, and the device can only be opened as a byte stream.
  public var driver: Driver? {
    get { boxedDriver }
    set { boxedDriver = newValue }
  }
  @Boxed private var boxedDriver: Driver?
  /// The device's name in errors. The default is its address.
  public var label: String
  /// A tap that gets a copy of every byte, from the first on.
  public var tap: (any TransportTap)?
  /// The thread for the I/O.
  public var io = IOThread.shared
  /// The clock for timeouts.
  public var clock: any TimerClock = IOThread.shared

  /// The open lines, which accessories on the same line share.
  public var lines = SharedLines.shared

  /// Whether the caller asks for permission to change something in the accessory.
  public var asksToWrite = false
  /// The profiles that match the device, when `profile` was chosen without matching. Writes that they forbid stay forbidden.
  package var claims: [Profile] = []

  private let drivers: DriverLibrary

  /// Opens `device` with the transport that `profile` prefers, or else at the device's address. `isChosen` says that the user, or the
  /// program that holds the device, has chosen the address; then the profile's preference doesn't count.
  public init(
    _ device: Device, profile: Profile? = nil, isChosen: Bool = false, drivers: DriverLibrary
  ) {
    let device = isChosen ? device : profile?.choosingTransport(device) ?? device
    self.device = device
    boxedProfile = profile
    self.drivers = drivers
    settings = profile?.transport ?? TransportSettings()
    boxedDriver = drivers.driver(for: device, profile)
    label = device.place
  }

  /// The rules for writes, from the driver and from all other drivers that the device may belong to.
  public var writeRules: WriteRules {
    var rules = WriteRules(label)
    let named = profile == nil ? nil : drivers.driver(for: device, profile)
    rules.add(driver, profile)
    if let named, named.name != driver?.name { rules.add(named, profile) }
    for claim in claims where claim != profile { rules.add(drivers.driver(for: device, claim), claim) }
    if let name = device.driver, !rules.names(name) { rules.add(drivers.driver(named: name), nil) }
    return rules
  }

  /// How the device is opened if not as bytes: as its driver wants it; or, at an address where no bytes pass, as the first driver wants
  /// it that is for such devices.
  private var opening: DriverOpening? {
    if let own = driver?.opening, own.fits(device.address) { return own }
    return device.address.transport.carriesBytes ? nil : drivers.opening(of: device.address)
  }

  /// Throws `unsupported` where no bytes pass between the device and its driver. Opens nothing.
  package func checkBytes() throws(AccessoryError) {
    if let opening { throw opening.refusalOfBytes(to: label) }
  }

  /// Opens the device as its driver wants it; without one, as what passes there, and asks nothing. Throws `unsupported` where its driver
  /// can't have such a device, and what opening throws.
  package func open() async throws(AccessoryError) -> OpenedDevice {
    let own = driver?.opening
    if let opening, driver == nil || own?.fits(device.address) == true {
      return try await opening.open(
        device.address, ChannelRequest(label: label, adapter: settings.bluetoothAdapter, io: io))
    }
    if let own, !device.address.transport.carriesBytes { throw own.refusal(of: label) }
    return .bytes(try await unguardedSession())
  }

  /// Opens the device's transport. Throws what opening such a transport throws: `notFound`, `permissionDenied`, `busy`,
  /// `misconfigured`, `unsupported`, `timedOut`, `disconnected`; `permissionDenied` when `writeRules` forbid raw bytes; and `unsupported`
  /// when no bytes pass between the device and its driver.
  public func transport() async throws(AccessoryError) -> any Transport {
    try writeRules.checkBytes(isAsked: asksToWrite)
    return try await unguardedTransport()
  }

  /// Opens the transport without checking `writeRules`. Only for callers that send nothing, or only what a driver encodes.
  package func unguardedTransport() async throws(AccessoryError) -> any Transport {
    try checkBytes()
    let transport: any Transport
    switch device.address {
    case .terminal(let path):
      var configuration = terminal(path).configuration(path: path, label: label)
      configuration.link = device.link
      transport = try await DescriptorTransport.open(configuration, io: io)
    case .usb(let path):
      transport = try await USBTransport.open(settings.usb.configuration(path: path, label: label), io: io)
    case .hidText(let path):
      transport = try await HIDTextTransport.open(path: path, label: label, io: io)
    case .tcp(let place):
      transport = try await DescriptorTransport.open(place, label: label, io: io)
    case .unix(let path):
      transport = try await DescriptorTransport.open(unix: path, label: label, io: io)
    case .rfc2217(let place):
      transport = try await RFC2217Transport.open(
        place, settings.terminal.configuration(path: device.address.description, label: label), io: io)
    case .esphome(let place):
      transport = try await ESPHomeTransport.open(
        place, settings.terminal.configuration(path: device.address.description, label: label),
        keyFile: settings.nodeKeyFile, io: io)
    case .ble(let address, let adapter) where driver?.channel == .advertisements:
      transport = HeardFrames(try await advertisements(of: address, by: adapter))
    case .ble(let address, let adapter):
      var note: (@Sendable (String) -> Void)?
      if let tap { note = { tap.noted($0) } }
      var gatt = settings.gatt
      if gatt.namesNothing, let own = driver?.gatt {
        gatt = own
        gatt.password = settings.gatt.password
      }
      gatt.greeting = gatt.greeting ?? driver?.gatt.greeting
      gatt.baudRate = settings.terminal.baudRate
      transport = try await GATTTransport.open(
        address, gatt, by: adapter ?? settings.bluetoothAdapter, label: label, io: io, noting: note)
    case .rfcomm(let address, let channel, let adapter):
      transport = try await RFCOMMTransport.open(
        address, channel: channel ?? settings.rfcommChannel, by: adapter ?? settings.bluetoothAdapter, label: label,
        io: io)
    default: throw AccessoryError(.unsupported, "no bytes pass to or from \(label), and no driver here opens it")
    }
    guard let tap else { return transport }
    return TappedTransport(transport, tap: tap)
  }

  /// The settings of a terminal. A profile sets modem lines for cables that are powered by them. A pseudo-terminal has
  /// no modem lines, so settings from the profile are dropped there; other settings fail when the terminal is opened.
  private func terminal(_ path: String) -> TerminalSettings {
    var terminal = settings.terminal
    guard let wanted = profile?.transport.terminal, device.source == .simulator || path.hasPrefix("/dev/pts/") else {
      return terminal
    }
    if terminal.dtr == wanted.dtr { terminal.dtr = .keep }
    if terminal.rts == wanted.rts { terminal.rts = .keep }
    return terminal
  }

  /// Opens the device as a session, for callers that implement its protocol themselves. Throws what `transport()` throws.
  public func session() async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await transport())
  }

  /// Opens a session without checking `writeRules`. Only for callers that only listen, or let the driver make contact.
  package func unguardedSession() async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await unguardedTransport())
  }

  /// Opens the device as a session, and makes the exchange that must precede its protocol: an EV3 brick on the network
  /// must be greeted. Throws what `transport()` and the driver's `greet` throw, after closing the device.
  public func greetedSession() async throws(AccessoryError) -> AccessorySession {
    try writeRules.checkBytes(isAsked: asksToWrite)
    return try await unguardedGreetedSession()
  }

  /// Like `greetedSession`, without checking `writeRules`. Only for callers that check each frame before it is sent.
  package func unguardedGreetedSession() async throws(AccessoryError) -> AccessorySession {
    let session = try await unguardedSession()
    return try await attempt { () throws(AccessoryError) in
      try await driver?.greet(over: session, clock: clock)
      return session
    } onFailure: { _ in
      await session.close()
    }
  }

  /// The same with the driver for the standard services of Bluetooth Low Energy devices, for a device whose protocol
  /// isn't known. Nil if a driver is known, if a profile says that the device is a stream of bytes, or if the caller
  /// has named characteristics for bytes.
  package var general: DeviceOpener? {
    guard driver == nil, profile == nil, device.driver == nil, device.unit == nil, case .ble = device.address,
      settings.gatt.namesNothing
    else { return nil }
    guard let general = drivers.drivers.first(where: { $0.opening?.fits(device.address) == true }) else { return nil }
    var opener = self
    opener.driver = general
    return opener
  }

  /// Opens the device and makes contact with the accessory.
  ///
  /// Throws `misconfigured` without a driver, before the device is opened, because opening resets some boards.
  /// Otherwise throws what `transport()` and the driver throw, after closing the device.
  public func accessory() async throws(AccessoryError) -> any Accessory {
    guard driver != nil else {
      guard let general else { throw withoutDriver }
      return try await general.contact(with: try await general.open())
    }
    try checkUnit()
    if isOnSharedLine { return try await sharedAccessory().accessory }
    return try await contact(with: try await open())
  }

  /// Makes contact over an open session. The accessory owns the session from now on; it is closed if this fails. Throws
  /// what `accessory()` throws.
  public func contact(over session: AccessorySession) async throws(AccessoryError) -> any Accessory {
    try await contact(with: .bytes(session))
  }

  /// The same with what `open()` has opened.
  package func contact(with opened: OpenedDevice) async throws(AccessoryError) -> any Accessory {
    guard let driver else { throw withoutDriver }
    return try await attempt { () throws(AccessoryError) in
      let rules = try checkedRules()
      return guarded(try await driver.open(opened, profile: profile, unit: device.unit, clock: clock), rules)
    } onFailure: { _ in
      await opened.close()
    }
  }

  /// The rules for what the driver sends. Throws `permissionDenied` when another driver is used for an accessory with
  /// writes: its requests count as raw bytes.
  func checkedRules() throws(AccessoryError) -> WriteRules {
    let rules = writeRules
    if let driver, rules.hasWrites, !rules.names(driver.name), let refusal = rules.refusalOfBytes(isAsked: asksToWrite)
    {
      throw refusal
    }
    return rules
  }

  /// Wraps the accessory, so that it refuses writes that aren't permitted, and tells only what can be.
  func guarded(_ accessory: any Accessory, _ rules: WriteRules) -> any Accessory {
    GuardedAccessory(base: accessory, rules: rules, isAsked: asksToWrite)
  }

  /// Throws `misconfigured` when the driver can't have this unit, and when the profile says that several accessories
  /// are on the line but the device has no unit. Doesn't throw without a driver: a byte stream needs no unit.
  public func checkUnit() throws(AccessoryError) {
    guard let driver else { return }
    try driver.check(device.unit, label: label)
    guard device.unit == nil, let profile, profile.units != nil else { return }
    throw AccessoryError(
      .misconfigured,
      "several accessories are on \(label) according to the profile \(profile.name): name one, like \(device.id)@1")
  }

  /// The error for requests to the device when there is no driver for it.
  public var withoutDriver: AccessoryError { drivers.unknown(for: device, profile, label: label) }
}
