// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
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
/// An accessory that a service (`bridge-cli serve`) holds is used through the service, which other programs can use at
/// the same time. Any other accessory is opened by this program, which has it alone until it is closed. The program
/// needn't know which is the case.
///
/// Several accessories on one line are called `LINE@UNIT`, and may be open at the same time: the line is opened once.
public struct Accessories: Sendable {
  /// Where devices come from.
  let sources: [any DeviceSource]
  /// What is known of kinds of devices.
  let profiles: ProfileStore
  /// The drivers that profiles name.
  let drivers: DriverLibrary
  /// Where services answer.
  let services: [String]

  /// The timeout for a service's list. It is short, because the program's user doesn't see what it waits for.
  static let lookPatience = Duration.seconds(5)

  /// Simulators and what the system knows; the profiles of this machine and this user; and the services that answer at the
  /// usual places, or at `ACCESSORY_BRIDGE_SOCKET` alone where that is set (none where it is "none").
  ///
  /// Profiles may name the drivers in `drivers`, and the described protocols of this machine and this user. Those that can't be read are left out: `ProfileLibrary.load` tells why.
  public init(drivers: DriverLibrary = .builtIn) async {
    let library = await SetupQueue(label: "profiles").run { ProfileLibrary.load(drivers: drivers) }
    var drivers = drivers
    drivers.protocols = library.protocols
    self.init(sources: [SimulatorSource(), UdevSource()], profiles: library.store, drivers: drivers)
  }

  /// What these sources tell, with these profiles. `services` are the sockets of services, in the order in which they are
  /// asked; nil for the usual ones, an empty array for none.
  public init(
    sources: [any DeviceSource], profiles: ProfileStore = .builtIn, drivers: DriverLibrary = .builtIn,
    services: [String]? = nil
  ) {
    self.sources = sources
    self.drivers = drivers
    self.profiles = profiles
    self.services = services ?? ServicePlace.all()
  }

  // MARK: - What is there

  /// The accessories that are there now. A service that doesn't answer is ignored. Throws when a source of devices
  /// fails.
  public func list() async throws(AccessoryError) -> [KnownAccessory] {
    var table = AccessoryTable()
    for device in try await CombinedSource(sources).devices().flatMap(profiles.accessories) {
      table.add(device, driver(for: device))
    }
    for held in await HeldAccessory.all(at: services, patience: Self.lookPatience).held where held.isHeld {
      table.hold(held.device, held.accessory.driver, at: held.place)
    }
    return table.shown.map(\.accessory)
  }

  /// Follows the accessories: first those that are there, then the changes. For one consumer.
  ///
  /// A slow consumer gets the present state and needs no buffer: two changes of an accessory become one, an accessory
  /// that came and went isn't reported, and of one that went and came back both are reported. Services that start later
  /// are followed, too. Throws when a source can't be watched; the sequence itself ends when the consumer's task is
  /// cancelled.
  public func changes() async throws(AccessoryError) -> EventStream<AccessoryChange> {
    var events: [AsyncStream<DeviceEvent>] = []
    for source in sources { events.append(try await source.events()) }
    let watch = AccessoryWatch(profiles: profiles, drivers: drivers)
    for stream in events { watch.follow(stream) }
    for place in services { watch.follow(service: place) }
    return EventStream(AsyncThrowingStream { await watch.next() })
  }

  /// The name of the driver for a device that is opened here.
  private func driver(for device: Device) -> String? {
    drivers.driver(for: device, profiles.profile(for: device))?.name
  }

  // MARK: - Opening

  /// Opens the accessory that `name` means: a serial number, a by-id name, a path, a unique prefix of one, or without a
  /// name the only one. Through the service where one holds it, here where not.
  ///
  /// With `writes`, commands that change something in it (`CommandDescription.isWrite`) are carried out if its profile allows
  /// them, too; otherwise they throw `permissionDenied`, and nothing is sent.
  ///
  /// Throws `notFound`; `misconfigured` when several fit, or no driver is known for it; `busy` when another program has
  /// it; and what opening it and making contact throw.
  public func open(_ name: String? = nil, writes: Bool = false) async throws(AccessoryError) -> any Accessory {
    try await opening(name) { held throws(AccessoryError) in
      try await ServiceAccessory.open(held, label: name ?? held.device.id, writes: writes)
    } here: { device throws(AccessoryError) in
      try await opener(for: device, name, writes).accessory()
    }
  }

  /// As above, of one that `list` or `changes` has told of.
  public func open(_ accessory: KnownAccessory, writes: Bool = false) async throws(AccessoryError) -> any Accessory {
    try await open(accessory.device.place, writes: writes)
  }

  /// Opens the accessory that `name` means as a stream of bytes in and one out, exactly as it sends and takes them; see
  /// `open` for names and errors. A service lends it, and sends nothing of its own until the session is closed.
  ///
  /// Bytes may be a command that changes something in it: where its protocol has such commands, it is opened only with
  /// `writes`, and if its profile allows them.
  public func openSession(_ name: String? = nil, writes: Bool = false) async throws(AccessoryError) -> AccessorySession
  {
    try await opening(name) { held throws(AccessoryError) in
      let calls = held.calls(label: name ?? held.device.id)
      return AccessorySession(try await calls.open(write: held.asks(toWrite: writes)).transport)
    } here: { device throws(AccessoryError) in
      try await opener(for: device, name, writes).greetedSession()
    }
  }

  /// How a device is opened here. Who names a path means that, whatever the profile prefers. Throws `misconfigured` when
  /// profiles of different protocols fit it equally well.
  private func opener(for device: Device, _ name: String?, _ writes: Bool) throws(AccessoryError) -> DeviceOpener {
    if let conflict = profiles.conflict(for: device, label: name ?? device.place) { throw conflict }
    var opener = DeviceOpener(
      device, profile: profiles.profile(for: device), isChosen: name?.contains("/") == true, drivers: drivers)
    opener.asksToWrite = writes
    if let name, name != opener.label { opener.label = "\(name) (\(opener.label))" }
    return opener
  }

  /// Opens by whatever way there is.
  private func opening<Opened>(
    _ name: String?, held: (HeldAccessory) async throws(AccessoryError) -> Opened,
    here: (Device) async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    if let found = try await find(name) { return try await held(found) }
    let known = try await devices(for: name)
    let device: Device
    do throws(ResolutionError) {
      device = try DeviceResolver.resolve(name, among: known)
    } catch {
      throw AccessoryError(error)
    }
    let failure: AccessoryError
    do throws(AccessoryError) { return try await here(device) } catch { failure = error }
    // A service may have taken it meanwhile: it looks for new ones as this program does.
    guard failure.kind == .busy, let found = try? await find(name) else { throw failure }
    return try await held(found)
  }

  private func find(_ name: String?) async throws(AccessoryError) -> HeldAccessory? {
    do {
      return try await HeldAccessory.find(name, at: services, patience: Self.lookPatience) {
        try await devices(for: name)
      }
    } catch let error as ResolutionError {
      throw AccessoryError(error)
    } catch let error as AccessoryError {
      throw error
    } catch {
      throw AccessoryError(.ioFailure, "\(error)")
    }
  }

  /// The devices that `name` may mean. Who names a path needs no source that fails.
  private func devices(for name: String?) async throws(AccessoryError) -> [Device] {
    var devices: [Device] = []
    for source in sources {
      do throws(AccessoryError) {
        devices += try await source.devices().flatMap(profiles.accessories)
      } catch {
        guard name?.contains("/") == true else { throw error }
      }
    }
    return devices
  }
}

extension AccessoryError {
  /// Why a name is not one device.
  init(_ error: ResolutionError) {
    switch error {
    case .noDevices, .noMatch, .noUnit: self.init(.notFound, error.description)
    case .malformed, .noDevice, .ambiguous: self.init(.misconfigured, error.description)
    }
  }
}
