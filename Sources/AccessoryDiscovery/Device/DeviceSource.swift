// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A device that was added, removed or changed.
public enum DeviceEvent: Sendable, Hashable {
  /// The device can be opened now.
  case added(Device)
  /// A device that is still present, with the same `id`, has changed: it has got a terminal, a driver or a name.
  case changed(Device, from: Device)
  /// The device was removed. The value is the one that was last reported.
  case removed(Device)
}

extension DeviceEvent {
  /// The event's device in its state after the event.
  package var device: Device {
    switch self {
    case .added(let device), .changed(let device, _), .removed(let device): device
    }
  }
}

extension Twins {
  /// The event with its devices marked, after the changes of those that have become twins by it.
  package mutating func take(_ event: DeviceEvent) -> [DeviceEvent] {
    switch event {
    case .added(let device):
      let others = came(device)
      return changes(others) + [.added(marked(device))]
    case .changed(let device, let old):
      let before = marked(old)
      went(old)
      let others = came(device)
      return changes(others) + [.changed(marked(device), from: before)]
    case .removed(let device):
      went(device)
      return [.removed(marked(device))]
    }
  }

  private func changes(_ devices: [Device]) -> [DeviceEvent] {
    devices.map { .changed(marked($0), from: $0) }
  }
}

/// A source of devices.
public protocol DeviceSource: Sendable {
  /// The devices that are present now. Throws when the source can't be queried.
  func devices() async throws(AccessoryError) -> [Device]
  /// Whether a device is present now, by its identity and its address. Throws when the source can't be queried.
  func isPresent(_ device: Device) async throws(AccessoryError) -> Bool
  /// The devices that are present now, as `added` events, and then the changes, until the task that reads the stream is
  /// cancelled. Every subscriber gets its own stream. Throws when the source can't be watched.
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent>
  /// Searches, from time to time and while somebody reads `events()`, as long as one of these wishes has no device. They
  /// replace the wishes of the call before. A source that reports its devices without searching does nothing.
  func wait(for wishes: [DeviceWish]) async
  /// Searches for the devices that fit the wish, for at most `limit`: for that one alone whose address the wish has, which ends the
  /// search, and otherwise for all, to the end of the time. Without time it returns only what is known of the address. Returns no
  /// device when there is none, or nothing to search with. Throws when the search fails, and `notFound` when a device with the
  /// wish's address isn't heard.
  func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device]
}

extension DeviceSource {
  /// Searches all devices.
  public func isPresent(_ device: Device) async throws(AccessoryError) -> Bool {
    try await devices().contains { $0.isHere(device) }
  }

  /// Does nothing: the devices are reported without a search.
  public func wait(for wishes: [DeviceWish]) async {}

  /// Returns no device: there is nothing to search with.
  public func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device] { [] }
}

extension Device {
  /// Whether both have the same identity and address, whatever is known of twins.
  func isHere(_ other: Device) -> Bool {
    lineIdentity == other.lineIdentity && unit == other.unit && address == other.address
  }
}
