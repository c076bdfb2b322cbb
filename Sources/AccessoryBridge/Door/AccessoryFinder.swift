// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

/// Finds the accessory for a name, among those that services have open and those that this program may open. `Accessories` and all
/// commands use it.
package struct AccessoryFinder: Sendable {
  /// The sockets of services, in the order in which to try them.
  package var services: [String]
  /// The timeout for a service's list.
  package var listTimeout = Duration.seconds(5)
  /// The devices that may have the name. If the second argument is true, a line with several accessories is one device.
  package var devices: @Sendable (DeviceName, Bool) async throws -> [Device]
  /// How this program opens a device that no service has open.
  package var opener: @Sendable (Device, DeviceName) async throws -> DeviceOpener
  /// The drivers and profiles of this program.
  package var kinds: KnownKinds
  /// Whether a line counts as one accessory, even if several are on it.
  package var isLine = false
  /// Whether a line that this program opens counts as one accessory, because the user names its driver.
  package var opensLines = false
  /// Whether the user asks for other settings of the line than the profile's. A service doesn't change a line's settings.
  package var hasSettings = false
  /// The driver that the user names; nil for the profile's. A service doesn't change the driver of an open accessory.
  package var driver: String?
  /// The transport that the user asks for; nil for the default one.
  package var transport: TransportKind?
  /// The name, in messages, of an accessory that a service has open.
  package var heldLabel: @Sendable (DeviceName, ServiceEntry) -> String = { $0.label(of: $1.accessory.device.place) }
  /// The program that uses the accessories.
  package var host: any OpeningHost
  /// The clock for time limits.
  package var clock: any TimerClock = IOThread.shared

  package init(
    services: [String], kinds: KnownKinds, host: any OpeningHost,
    devices: @escaping @Sendable (DeviceName, Bool) async throws -> [Device],
    opener: @escaping @Sendable (Device, DeviceName) async throws -> DeviceOpener
  ) {
    (self.services, self.kinds, self.host) = (services, kinds, host)
    (self.devices, self.opener) = (devices, opener)
  }

  /// The accessory for the name. Throws `ResolutionError` if the name doesn't match exactly one; `busy` if the user asks for other
  /// line settings or another driver than those of the service that has it open, or if a service that may have it accepts no more
  /// clients; and the errors that prevent this program from opening it.
  package func find(_ name: DeviceName) async throws -> any FoundAccessory {
    if let held = try await held(name) { return held }
    do {
      let own = try await ownAccessory(name)
      return try await soonHeld(own, name) ?? own
    } catch ResolutionError.noMatch(let text, _) where text == name.text {
      var known = name
      known.searches = .nothing
      let others = (try? await devices(known, isLine)) ?? []
      // A similar name may be that of an accessory which only a service knows.
      let held = await ServiceEntry.all(at: services, replyTimeout: listTimeout).held.map(\.device)
      throw ResolutionError.missing(text, among: others + held)
    }
  }

  /// The accessory for the name, if a service has it open or is going to open it.
  package func held(_ name: DeviceName) async throws -> (any FoundAccessory)? {
    guard let entry = try await entry(name, asLine: isLine) else { return nil }
    guard !hasSettings, driver == nil || driver == entry.accessory.driver else {
      let place = entry.accessory.device.place
      throw AccessoryError(
        .busy,
        "the service at \(entry.socketPath) has \(place) open with its profile: to open it differently, detach it first: "
          + "bridge-cli attach --end \(place)")
    }
    return held(entry, label: heldLabel(name, entry))
  }

  /// The record of the accessory for the name, in the service that has it open; with `all`, also in a service that has given it up.
  package func entry(
    _ name: DeviceName, all isAll: Bool = false, asLine isLine: Bool = false
  ) async throws -> ServiceEntry? {
    // An accessory of a service is connected, or the service waits for it.
    var known = name
    known.searches = .nothing
    return try await ServiceEntry.find(name, at: services, all: isAll, asLine: isLine, replyTimeout: listTimeout) {
      try await devices(known, false)
    }
  }

  /// The accessory for the name, to be opened by this program, whether or not a service has it open.
  package func own(_ name: DeviceName) async throws -> any FoundAccessory { try await ownAccessory(name) }

  private func ownAccessory(_ name: DeviceName) async throws -> OwnAccessory {
    let isLine = isLine || opensLines
    let there: [Device]
    if let wish = name.wish() {
      there = try await host.during("looking for \(name.text ?? "it")", limit: wish.limit) {
        () async throws -> [Device] in try await devices(name, isLine)
      }
    } else {
      there = try await devices(name, isLine)
    }
    let device = try name.device(among: there, by: transport)
    return OwnAccessory(opener: try await opener(device, name), kinds: kinds, host: host)
  }

  /// All accessories with a known driver: first those that services have open, then the others, each with the error that prevents
  /// opening it. `replyTimeout` limits each answer of a service.
  package func all(
    replyTimeout: Duration
  ) async throws -> [(device: Device, found: Result<any FoundAccessory, any Error>)] {
    let all = await ServiceEntry.all(at: services, absent: true, replyTimeout: listTimeout).held
    let entries = all.filter(\.isHeld)
    let others = try await devices(DeviceName(nil), false).filter { device in
      device.mayBeAccessory && !entries.contains { $0.device.isSame(as: device) || $0.isUnit(of: device) }
    }
    let gone = all.filter { $0.isAbsent && !others.contains(where: SameAgain($0.device).fits) }
    var found: [(device: Device, found: Result<any FoundAccessory, any Error>)] = []
    for entry in entries + gone where entry.accessory.driver != nil {
      var client = entry.client
      client.replyTimeout = replyTimeout
      let entry = ServiceEntry(client: client, accessory: entry.accessory)
      found.append((entry.device, .success(held(entry, label: entry.accessory.device.place))))
    }
    for device in others {
      do {
        let opener = try await opener(device, DeviceName(device.place))
        // Don't connect devices on the air that nobody has named.
        let isNamed = device.bluetooth == nil || opener.profile?.allowsConnecting == true
        if opener.driver != nil, isNamed {
          found.append((opener.device, .success(OwnAccessory(opener: opener, kinds: kinds, host: host))))
        }
      } catch {
        found.append((device, .failure(error)))
      }
    }
    return found
  }

  private func held(_ entry: ServiceEntry, label: String) -> any FoundAccessory {
    HeldAccessory(entry: entry, label: label, kinds: kinds, host: host)
  }
}

/// The drivers and profiles of a program, read at their first use.
package struct KnownKinds: Sendable {
  /// The drivers, for messages.
  package var library: @Sendable () -> DriverLibrary
  /// The driver with this name.
  package var driver: @Sendable (String) -> Driver?
  /// The profile with this name.
  package var profile: @Sendable (String) async -> Profile?

  /// These drivers and profiles.
  package init(
    library: @escaping @Sendable () -> DriverLibrary, driver: @escaping @Sendable (String) -> Driver?,
    profile: @escaping @Sendable (String) async -> Profile?
  ) {
    (self.library, self.driver, self.profile) = (library, driver, profile)
  }
}
