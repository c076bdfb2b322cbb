// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// What the publisher asks the service for: events don't have the readings of earlier, the service's record of an accessory, and the
// permitted commands.

extension FleetPublisher {
  /// Asks about an accessory soon, together with the others that come meanwhile.
  func readSoon(_ level: TopicLevel) {
    unread.insert(level)
    guard reading == nil else { return }
    reading = Task { await readAll() }
  }

  /// One accessory after another, as the service answers one call after another. The records of all come in one reply, which grows with
  /// their number: it is asked for once for all that wait, and then not for ten times as long as it took.
  private func readAll() async {
    defer { reading = nil }
    while !unread.isEmpty, !Task.isCancelled {
      if let pause = listPause { await clock.sleep(for: max(Self.collecting, pause - (clock.now - lastList))) }
      let levels = unread.sorted()
      unread = []
      guard let service, !Task.isCancelled else {
        for level in levels { mark(level, .discovery) }
        return
      }
      let start = clock.now
      var held: [String: Bridge.Accessory] = [:]
      for accessory in (try? await service.list()) ?? [] { held[accessory.device.place] = accessory }
      lastList = clock.now
      listPause = min((lastList - start) * 10, .seconds(10))
      for level in levels where !Task.isCancelled { await read(level, service, held) }
    }
  }

  private func read(_ level: TopicLevel, _ service: BridgeClient, _ held: [String: Bridge.Accessory]) async {
    guard let record = records[level], record.state.connected else { return }
    let place = record.place
    let client = service.device(place, label: record.state.device.id)
    let commands = permitsCommands ? (try? await client.commands())?.commands ?? [] : []
    let status = try? await client.status()
    let battery = try? await client.battery()
    let values = try? await client.values()
    guard var record = records[level], record.state.connected, record.place == place else { return }
    let now = Self.now
    record.state.held = held[place]
    // The events say which alarms are raised, in order.
    record.state.alarms = held[place]?.alarms == nil ? nil : record.state.alarms ?? []
    record.state.time = now
    if let status {
      (record.state.status, record.state.identity) = (status.status, status.identity)
      record.state.statusTime = now - Double(status.age_ms ?? 0) / 1_000
    }
    if let battery {
      record.state.battery = battery.battery
      record.state.batteryTime = now - Double(battery.age_ms ?? 0) / 1_000
    }
    record.state.stale = status?.stale ?? battery?.stale ?? held[place]?.stale ?? false
    if let values { _ = record.take(values.values, at: now) }
    record.facts.take(record.state)
    record.facts.commands = commands
    records[level] = record
    mark(level, [.state, .values, .discovery])
  }

  /// Asks the service which readings are stale: there is no event when an accessory falls silent.
  func checkFreshness() {
    guard let service, checking == nil else { return }
    checking = Task {
      let held = try? await service.list()
      checking = nil
      for accessory in held ?? [] {
        guard let level = levels[accessory.device.place],
          records[level]?.takeFreshness(accessory.stale == true, at: Self.now) == true
        else { continue }
        mark(level, .state)
      }
    }
  }
}
