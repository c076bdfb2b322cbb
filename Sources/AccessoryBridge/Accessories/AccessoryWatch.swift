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

  /// Follows the services at these sockets, and services that start there later: a view of their mirror.
  func follow(services places: [String]) {
    let mirror = ServiceMirror(.lists)
    run { await mirror.run(places.map { ServiceMirror.Service($0) }) }
    run { [weak self] in
      var shown: [UInt64: ServiceReport] = [:]
      for await news in await mirror.changes() {
        guard let self else { return }
        let up = Set(news.services.lazy.filter(\.isUp).map(\.path))
        change { table in
          for accessory in news.accessories {
            let report = up.contains(accessory.service) ? ServiceReport(accessory) : nil
            guard shown[accessory.id] != report else { continue }
            if let old = shown[accessory.id] { table.removeServiceEntry(old.device.place, at: accessory.service) }
            if let report { table.addServiceEntry(report.device, report.driver, at: accessory.service) }
            shown[accessory.id] = report
          }
          for id in news.forgotten {
            if let old = shown.removeValue(forKey: id) { table.removeServiceEntry(old.device.place, at: old.service) }
          }
        }
      }
    }
  }

  private func run(_ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    state.withLock { $0.tasks.append(task) }
  }
}

/// What the table gets of an accessory that a service has open.
private struct ServiceReport: Sendable, Equatable {
  var service: String
  var device: Device
  var driver: String?
  /// Another one after each disconnect, so that an accessory that was away is reported as such.
  var connection: Int

  /// Nil for one that isn't connected, or whose driver isn't known yet.
  init?(_ accessory: MirroredAccessory) {
    guard accessory.isConnected, let record = accessory.record else { return nil }
    (service, device, driver) = (accessory.service, accessory.device, record.driver)
    connection = accessory.disconnectCount
  }
}
