// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// Follows sources and services for one consumer, and returns the differences between the current state and the state
/// that the consumer knows. So no events accumulate.
final class AccessoryWatch: Sendable {
  private struct State: Sendable {
    var table = AccessoryTable()
    /// The accessories that the consumer knows, by the entries' ids, in the order in which they were reported.
    var reported: [(id: UInt64, accessory: KnownAccessory)] = []
    var tasks: [Task<Void, Never>] = []

    /// Returns the next change that the consumer doesn't know yet.
    mutating func nextChange() -> AccessoryChange? {
      var shown: [UInt64: KnownAccessory] = [:]
      for (id, accessory) in table.shown { shown[id] = accessory }
      if let index = reported.firstIndex(where: { shown[$0.id] == nil }) {
        return .disappeared(reported.remove(at: index).accessory)
      }
      for index in reported.indices {
        guard let accessory = shown.removeValue(forKey: reported[index].id) else { continue }
        let old = reported[index].accessory
        if accessory != old {
          reported[index].accessory = accessory
          return .changed(accessory, from: old)
        }
      }
      // The remaining accessories are new. The one with the lowest id appeared first.
      guard let (id, accessory) = shown.min(by: { $0.key < $1.key }) else { return nil }
      reported.append((id, accessory))
      return .appeared(accessory)
    }
  }

  private let state = Locked(State())
  private let profiles: ProfileStore
  private let drivers: DriverLibrary
  /// Signals that the state may have changed.
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  init(profiles: ProfileStore, drivers: DriverLibrary) {
    self.drivers = drivers
    self.profiles = profiles
    (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { for task in state.withLock({ $0.tasks }) { task.cancel() } }

  // MARK: - The consumer

  /// The next change; nil when the task is cancelled.
  func next() async -> AccessoryChange? {
    while !Task.isCancelled {
      if let change = state.withLock({ $0.nextChange() }) { return change }
      var signals = signals.makeAsyncIterator()
      guard await signals.next() != nil else { return nil }
    }
    return nil
  }

  private func change(_ body: (inout AccessoryTable) -> Void) {
    state.withLock { body(&$0.table) }
    signal.yield()
  }

  // MARK: - Sources

  func follow(_ events: AsyncStream<DeviceEvent>) {
    let (profiles, drivers) = (profiles, drivers)
    run { [weak self] in
      func driver(_ device: Device) -> String? { drivers.driver(for: device, profiles.profile(for: device))?.name }
      for await event in events {
        guard let self else { return }
        for event in event.onUnits(profiles) {
          switch event {
          case .added(let device): change { $0.add(device, driver(device)) }
          case .changed(let device, let old): change { $0.change(old, to: device, driver(device)) }
          case .removed(let device): change { $0.remove(device) }
          }
        }
      }
    }
  }

  // MARK: - Services

  /// Follows the service at this socket, and services that start there later.
  func follow(service place: String) {
    run { [weak self] in
      let starts = ServiceStarts(at: place)
      defer { starts.stop() }
      for await _ in starts.signals {
        // The loop throws when the service ends.
        try? await Self.follow(place) { body in self?.change(body) }
        guard !Task.isCancelled, let self else { return }
        change { $0.removeServiceEntries(at: place) }
      }
    }
  }

  private static func follow(
    _ place: String, _ change: ((inout AccessoryTable) -> Void) -> Void
  ) async throws(AccessoryError) {
    var present = ReportedDevices<Device>()
    var isReady = false
    for try await event in try await BridgeClient.events(at: place, replyTimeout: Accessories.listTimeout) {
      switch event {
      case .present(let facts), .connected(let facts):
        let device = Device(facts)
        if isReady {
          let driver = await drivers(at: place)[device.place]
          change { $0.addServiceEntry(device, driver, at: place) }
        } else {
          _ = present.keep(device, for: device.place, size: device.textByteCount)
        }
      case .ready:
        let drivers = await drivers(at: place)
        change { table in
          for device in present.values { table.addServiceEntry(device, drivers[device.place], at: place) }
        }
        (isReady, present) = (true, ReportedDevices())
      case .disconnected(let facts, _):
        present.remove(facts.place)
        change { $0.removeServiceEntry(facts.place, at: place) }
      case .battery, .status, .values, .requestFailed, .alarm: break
      }
    }
  }

  /// The names of the drivers that a service uses, by the address of the device.
  ///
  /// This uses a new connection: one made before the event subscription might lead to a previous service that was about
  /// to end.
  private static func drivers(at place: String) async -> [String: String] {
    guard let client = try? await BridgeClient.connect(to: place, replyTimeout: Accessories.listTimeout),
      let list = try? await client.list()
    else { return [:] }
    return Dictionary(list.compactMap { one in one.driver.map { (one.device.place, $0) } }) { first, _ in first }
  }

  private func run(_ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    state.withLock { $0.tasks.append(task) }
  }
}
