// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// An accessory that a service manages, and a connection to that service.
package struct ServiceEntry: Sendable {
  package let client: BridgeClient
  /// The accessory as the service reports it.
  package let accessory: Bridge.Accessory

  /// The device through which the service uses the accessory.
  package var device: Device { accessory.device }

  package var socketPath: String { client.socketPath }

  /// Whether the service has the accessory open, or is about to open it.
  package var isHeld: Bool { accessory.state != .failed }

  /// The value for the `write` parameter of calls. An older service whose accessories have no `writes` property doesn't
  /// know the parameter either.
  package func asks(toWrite isAsked: Bool) -> Bool { isAsked && accessory.writes != nil }

  /// Whether the accessory was attached, is gone, and isn't waited for any more.
  package var isAbsent: Bool { accessory.absent == true }

  /// Whether the accessory isn't present, so that the service waits for it or has given it up.
  package var isAwaited: Bool { accessory.state == .waiting || accessory.state == .failed }

  /// Whether this is one of several accessories on a line that this device is.
  func isUnit(of line: Device) -> Bool { line.unit == nil && device.unit != nil && device.isOnLine(of: line) }

  /// The object for calls about the accessory. `label` is its name in error messages.
  package func calls(label: String?) -> BridgeDevice { client.device(accessory, label: label) }

  /// The accessory that `name` names, if a service at one of `places` has it open; with `all`, also one that a service
  /// has given up. Nil when this program must open it itself, or it isn't present. `devices` returns the other devices.
  ///
  /// With `isLine`, the name of a line with several accessories stands for the first of them.
  ///
  /// Throws `ResolutionError` when `name` matches several accessories, and `busy` when a service that may have it open
  /// accepts no more clients.
  package static func find(
    _ name: DeviceName, at places: [String], all isAll: Bool = false, asLine isLine: Bool = false,
    replyTimeout: Duration,
    devices: () async throws -> [Device]
  ) async throws -> ServiceEntry? {
    let (all, busy) = await all(at: places, absent: true, replyTimeout: replyTimeout)
    let held = all.filter { !$0.isAbsent && (isAll || $0.isHeld) }
    let known = all.isEmpty && busy == nil ? [] : (try? await devices()) ?? []
    if let busy, held.isEmpty, isAll || (try? name.device(among: known)) == nil {
      // A service that didn't answer may have it, so it can't be reported as missing.
      throw busy
    }
    // An accessory that is gone is meant where nothing else is.
    func gone() -> ServiceEntry? {
      let gone = all.filter(\.isAbsent)
      guard !gone.isEmpty, (try? name.device(among: known)) == nil,
        let device = try? name.device(there: [], awaited: gone.map(\.device))
      else { return nil }
      return gone.first { $0.device == device }
    }
    guard !held.isEmpty else { return gone() }
    // An awaited accessory may have left its address to another device, so a present accessory takes precedence.
    let (awaited, there) = (held.filter(\.isAwaited), held.filter { !$0.isAwaited })
    let others = known.filter { device in
      !there.contains { $0.device.isSame(as: device) } && !awaited.contains { SameAgain($0.device).fits(device) }
        // Leaves out a line if a service has its units open.
        && !held.contains { $0.isUnit(of: device) }
    }
    let found: Device?
    do throws(ResolutionError) {
      found = try name.device(there: there.map(\.device) + others, awaited: awaited.map(\.device))
    } catch {
      guard isLine, let units = error.unitsOfALine else { throw error }
      return held.first { units.contains($0.device) }
    }
    guard let found else { return gone() }
    guard !others.contains(where: { $0.isSame(as: found) }) else { return nil }
    return held.first { $0.device == found } ?? held.first { $0.device.isSame(as: found) }
  }

  /// The accessories of the services at these sockets; with `absent` also those that are gone. A service that can't be queried is left
  /// out; `busy` is the error of one that accepts no more clients.
  package static func all(
    at places: [String], absent: Bool = false, replyTimeout: Duration
  ) async -> (held: [ServiceEntry], busy: AccessoryError?) {
    var held: [ServiceEntry] = []
    var busy: AccessoryError?
    for place in places {
      do throws(AccessoryError) {
        var client = try await connect(to: place, replyTimeout: replyTimeout)
        let list = try await client.list(absent: absent)
        // Later calls may take as long as the accessory does, so they have no timeout.
        client.replyTimeout = nil
        held += list.map { ServiceEntry(client: client, accessory: $0) }
      } catch {
        guard error.kind == .busy else { continue }
        busy = AccessoryError(.busy, "the service at \(place) is busy: \(error.message); try again later")
      }
    }
    return (held, busy)
  }

  /// A connection to the service at `place`. A user who isn't permitted to use that socket, but may read, gets a connection to
  /// the service's socket for readings.
  package static func connect(to place: String, replyTimeout: Duration) async throws(AccessoryError) -> BridgeClient {
    do throws(AccessoryError) {
      return try await BridgeClient.connect(to: place, replyTimeout: replyTimeout)
    } catch {
      guard error.kind == .permissionDenied else { throw error }
      let readings = ServicePlace.readings(beside: place)
      guard let client = try? await BridgeClient.connect(to: readings, replyTimeout: replyTimeout) else { throw error }
      return client
    }
  }
}
