// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import CommandOutput

/// An accessory whose readings are shown, with its first reading and its events.
struct FollowedReading<Value: Sendable>: Followed {
  let opened: AccessoryInUse
  let read: Read<Value>
  /// The events after the first reading; nil where they aren't wanted.
  let events: AccessoryEvents?

  /// Opens an accessory and makes the first reading.
  static func open(
    _ found: any FoundAccessory, needing ability: DriverAbility,
    _ read: (AccessoryInUse) async throws -> (Read<Value>, AccessoryEvents?)
  ) async throws -> FollowedReading {
    let opened = try await found.open(needing: ability)
    do {
      let (read, events) = try await read(opened)
      return FollowedReading(opened: opened, read: read, events: events)
    } catch {
      await opened.close()
      throw error
    }
  }

  var device: Device { opened.device }
  var servicePath: String? { opened.service?.socketPath }
  func close() async { await opened.close() }
}

extension AccessoryInUse {
  /// The device with what its service says of it, if it is gone.
  var document: DeviceDocument {
    DeviceDocument(device, held: service.flatMap { $0.isGone ? $0.accessory : nil })
  }
}
