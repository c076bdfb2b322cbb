// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink

/// The accessories that a program can use: lists them, follows changes, and opens them.
///
/// ```swift
/// let accessories = try await Accessories()
/// let robot = try await accessories.open("SIM0001")
/// print(try await robot.battery().level)
/// await robot.close()
/// ```
///
/// An accessory that a service (`bridge-cli serve`) has open is used through that service, which other programs can use
/// at the same time. Any other accessory is opened by this program, for its exclusive use until it is closed. The
/// program needn't know which is the case.
///
/// Several accessories on one line are named `LINE@UNIT`. They may be open at the same time: the line is opened once.
public struct Accessories: Sendable {
  let sources: [any DeviceSource]
  /// The profiles of kinds of devices.
  let profiles: ProfileStore
  /// The drivers that profiles may name.
  let drivers: DriverLibrary
  /// The sockets of services.
  let services: [String]

  /// The timeout for a service's list. It is short, because the program's user doesn't see what the program waits for.
  static let listTimeout = Duration.seconds(5)

  /// The accessories of this machine: simulators, the system's devices, and its Bluetooth devices, with the profiles of this
  /// machine and this user, and the services at the usual sockets. If `ACCESSORY_BRIDGE_SOCKET` is set, only that socket is used, or
  /// none if it is "none".
  ///
  /// Profiles may name the drivers in `drivers`, and the described protocols of this machine and this user. Profiles
  /// and descriptions that can't be read are left out; `ProfileLibrary.load` returns the reasons.
  public init(drivers: DriverLibrary = .builtIn) async {
    let library = await SetupQueue(label: "profiles").run { ProfileLibrary.load(drivers: drivers) }
    var drivers = drivers
    drivers.protocols = library.protocols
    self.init(sources: [SimulatorSource(), UdevSource(), BluetoothSource()], profiles: library.store, drivers: drivers)
  }

  /// The accessories of these sources, with these profiles. `services` are the sockets of services, in the order in
  /// which they are tried; nil for the usual ones, an empty array for none.
  public init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    services: [String]? = nil
  ) {
    self.sources = sources
    self.drivers = drivers
    self.profiles = profiles
    self.services = services ?? ServicePlace.all()
  }

  // MARK: - Present accessories

  /// The accessories that are present now. A service that doesn't answer is ignored. Throws when a source of devices
  /// fails.
  public func list() async throws(AccessoryError) -> [KnownAccessory] {
    var table = AccessoryTable()
    for device in try await CombinedSource(sources).devices().flatMap(profiles.accessories) {
      table.add(device, driver(for: device))
    }
    for held in await ServiceEntry.all(at: services, replyTimeout: Self.listTimeout).held where held.isHeld {
      table.addServiceEntry(held.device, held.accessory.driver, at: held.socketPath)
    }
    return table.shown.map(\.accessory)
  }

  /// Follows the accessories: first those that are present, then the changes. For one consumer.
  ///
  /// A slow consumer needs no buffer, because each change is computed from the current state: two changes of an
  /// accessory become one, an accessory that appeared and disappeared isn't reported, and one that disappeared and
  /// appeared again is reported as both. Services that start later are followed as well. Throws when a source can't be
  /// watched. The sequence ends when the consumer's task is cancelled.
  public func changes() async throws(AccessoryError) -> EventStream<AccessoryChange> {
    var events: [AsyncStream<DeviceEvent>] = []
    for source in sources { events.append(try await source.events()) }
    let watch = AccessoryWatch(profiles: profiles, drivers: drivers)
    for stream in events { watch.follow(stream) }
    watch.follow(services: services)
    return EventStream(AsyncThrowingStream { await watch.next() })
  }

  /// The name of the driver for a device that this program opens itself.
  private func driver(for device: Device) -> String? {
    drivers.driver(for: device, profiles.profile(for: device))?.name
  }

  // MARK: - Opening

  /// Opens the accessory that `name` names: what `DeviceName` says, such as a serial number, a path, or a unique
  /// beginning of a name. Without a name, opens the only accessory. If a service has it open, it is used through that service; otherwise this program
  /// opens it.
  ///
  /// With `writes`, commands that change settings or state in the accessory (`CommandDescription.isWrite`) are carried
  /// out if its profile allows them as well. Otherwise they throw `permissionDenied` without being sent.
  ///
  /// Throws `notFound`; `misconfigured` when several accessories match, or no driver is known for it; `busy` when
  /// another program has it open; and the errors of opening it and making contact.
  public func open(_ name: String? = nil, writes: Bool = false) async throws(AccessoryError) -> any Accessory {
    try await opening(name) { found throws(AccessoryError) in try await found.accessory(writes: writes) }
  }

  /// Opens an accessory that `list` or `changes` has returned. See `open(_:writes:)` for names.
  public func open(_ accessory: KnownAccessory, writes: Bool = false) async throws(AccessoryError) -> any Accessory {
    try await open(accessory.device.place, writes: writes)
  }

  /// Opens the accessory that `name` names as two byte streams, without a protocol; see `open` for names and errors. A
  /// service that has the accessory open passes its bytes on, and sends nothing of its own until the session is closed.
  ///
  /// Raw bytes may contain a command that changes settings or state. So unless the accessory's driver says that they are
  /// harmless, it is opened only with `writes`, and if its profile allows them.
  public func openSession(_ name: String? = nil, writes: Bool = false) async throws(AccessoryError) -> AccessorySession
  {
    try await opening(name) { found throws(AccessoryError) in try await found.session(writes: writes) }
  }

  /// Finds an accessory and opens it.
  func opening<Opened>(
    _ text: String?, asLine isLine: Bool = false, _ open: (any FoundAccessory) async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    let name = DeviceName(text)
    var finder = finder
    finder.isLine = isLine
    let found: any FoundAccessory
    do {
      found = try await finder.find(name)
    } catch let error as ResolutionError {
      throw AccessoryError(error)
    } catch let error as AccessoryError {
      throw error
    } catch {
      throw AccessoryError(.ioFailure, "\(error)")
    }
    return try await attempt { () async throws(AccessoryError) in
      try await open(found)
    } or: { failure throws(AccessoryError) in
      // A service that looks for new accessories may have opened it meanwhile.
      guard failure.kind == .busy, found.service == nil, let held = try? await finder.held(name) else { throw failure }
      return try await open(held)
    }
  }

  /// What finds the accessories of these sources and services.
  private var finder: AccessoryFinder {
    let (sources, profiles, drivers) = (sources, profiles, drivers)
    let kinds = KnownKinds {
      drivers
    } driver: { name in
      drivers.driver(named: name)
    } profile: { name in
      profiles.profile(named: name)
    }
    var finder = AccessoryFinder(services: services, kinds: kinds, host: SilentHost()) { name, isLine in
      let devices = try await name.devices(of: sources)
      return isLine ? devices : devices.flatMap(profiles.accessories)
    } opener: { device, name in
      if let conflict = profiles.conflict(for: device, label: name.text ?? device.place) { throw conflict }
      var opener = DeviceOpener(
        device, profile: profiles.profile(for: device), isChosen: name.choosesTransport(of: device), drivers: drivers)
      opener.label = name.label(of: opener.label)
      return opener
    }
    finder.listTimeout = Self.listTimeout
    finder.heldLabel = { name, entry in name.text ?? entry.device.id }
    return finder
  }
}

extension AccessoryError {
  /// The error for a name that doesn't name exactly one device.
  init(_ error: ResolutionError) {
    switch error {
    case .noDevices, .noMatch, .otherCapitals, .noUnit: self.init(.notFound, error.description)
    case .malformed, .noDevice, .ambiguous: self.init(.misconfigured, error.description)
    }
  }
}
