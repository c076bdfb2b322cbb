// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// An accessory that a service has, and a connection to that service.
package struct HeldAccessory: Sendable {
  /// The service.
  package let client: BridgeClient
  /// As the service tells of it.
  package let accessory: Bridge.Accessory

  /// The device by which the service reaches it.
  package var device: Device { Device(accessory.device) }

  /// Where the service answers.
  package var place: String { client.place }

  /// Whether the service has it open, or is about to.
  package var isHeld: Bool { accessory.state != .failed }

  /// Whether calls are to say that they may change something in the accessory: a service of an earlier version, which knows no
  /// such accessories, doesn't know the word.
  package func asks(toWrite isAsked: Bool) -> Bool { isAsked && accessory.writes != nil }

  /// Whether the service is waiting for it.
  private var isAwaited: Bool { accessory.state == .waiting || accessory.state == .failed }

  /// The object for calls about it. `label` is its name in errors.
  package func calls(label: String?) -> BridgeDevice { client.device(accessory.device.place, label: label) }

  /// The accessory that `text` means, if a service at one of `places` holds it; with `all`, also one that it has given up.
  /// Nil when it is to be opened by this program, or is not there. `devices` tells what else there is.
  ///
  /// With `isLine` the name of a line with several accessories stands for the first of them.
  ///
  /// Throws `ResolutionError` when `text` fits several accessories, held and others; `busy` when a service can't be asked
  /// that may have it.
  package static func find(
    _ text: String?, at places: [String], all isAll: Bool = false, asLine isLine: Bool = false, patience: Duration,
    devices: () async throws -> [Device]
  ) async throws -> HeldAccessory? {
    let (all, busy) = await all(at: places, patience: patience)
    let held = all.filter { isAll || $0.isHeld }
    let known = held.isEmpty && busy == nil ? [] : (try? await devices()) ?? []
    if let busy, held.isEmpty, isAll || (try? DeviceResolver.resolve(text, among: known)) == nil {
      // A service that didn't answer may have it, so it can't be reported as missing.
      throw busy
    }
    guard !held.isEmpty else { return nil }
    // One that is awaited may have left its path to another, and isn't meant where another can be.
    let (awaited, there) = (held.filter(\.isAwaited), held.filter { !$0.isAwaited })
    let others = known.filter { device in
      !there.contains { $0.device.isSame(as: device) } && !awaited.contains { $0.accessory.device.id == device.id }
        // A line whose accessories are held.
        && !(device.unit == nil && held.contains { $0.device.unit != nil && $0.device.isOnLine(of: device) })
    }
    let found: Device?
    do throws(ResolutionError) {
      found = try DeviceResolver.choose(text, there: there.map(\.device) + others, awaited: awaited.map(\.device))
    } catch {
      guard isLine, let units = error.unitsOfALine else { throw error }
      return held.first { units.contains($0.device) }
    }
    guard let found, !others.contains(where: { $0.isSame(as: found) }) else { return nil }
    return held.first { $0.device == found } ?? held.first { $0.device.isSame(as: found) }
  }

  /// What the services at these places have. One that can't be asked is passed over; that it takes no more clients is told
  /// beside.
  package static func all(
    at places: [String], patience: Duration
  ) async -> (held: [HeldAccessory], busy: AccessoryError?) {
    var held: [HeldAccessory] = []
    var busy: AccessoryError?
    for place in places {
      do throws(AccessoryError) {
        var client = try await BridgeClient.connect(to: place, patience: patience)
        let list = try await client.list()
        // What is asked then may take as long as the accessory does.
        client.patience = nil
        held += list.map { HeldAccessory(client: client, accessory: $0) }
      } catch {
        guard error.kind == .busy else { continue }
        busy = AccessoryError(.busy, "the service at \(place) is busy: \(error.message); try again")
      }
    }
    return (held, busy)
  }
}
