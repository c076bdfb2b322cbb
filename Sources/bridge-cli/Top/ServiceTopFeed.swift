// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import CommandOutput

/// The accessories of services, for `top`: a view of the mirror.
actor ServiceTopFeed: TopFeed {
  nonisolated let news: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  private let mirror = ServiceMirror([.values, .alarms, .readings, .lists, .freshness, .absent])
  private var changes: MirrorChanges?
  private let places: [String]
  /// Whether the only service is in this process.
  private let isOwn: Bool
  /// After which pauses the list is worth asking for again, by the accessories that are opened or tried again.
  private var pauses: [UInt64: Duration] = [:]
  /// The rules of the command line, and what is wrong with them.
  private let rules: [AlarmRule]
  private var remarks: [String] = []
  private static let remarkLimit = 3

  /// How long one history may take.
  private static let patience = Duration.seconds(5)

  init(_ places: [String], isOwn: Bool, rules: [AlarmRule] = []) {
    (self.places, self.isOwn, self.rules) = (places, isOwn, rules)
    (news, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Follows the services until the task is cancelled.
  nonisolated func run() async {
    let services = places.map { ServiceMirror.Service($0) }
    let alarms = ServiceAlarms(rules, at: places, note: { text in Task { await self.remark(text) } }) {
      [mirror] device, alarm, state, place in
      // The service's own alarms come with its readings.
      if let place { await mirror.take(own: alarm, state, of: device, from: place) }
    }
    var hooks = ServiceMirror.Hooks()
    if !rules.isEmpty { hooks.happened = { event, place, _ in await alarms.take(event, of: place) } }
    await withTaskGroup { group in
      group.addTask { [mirror, hooks] in await mirror.run(services, hooks) }
      group.addTask { [mirror, changed] in
        let changes = await mirror.changes()
        await self.use(changes)
        for await _ in changes.signals { changed.yield() }
      }
    }
    await alarms.end()
  }

  private func use(_ changes: MirrorChanges) { self.changes = changes }

  private func remark(_ text: String) {
    guard remarks.count < Self.remarkLimit else { return }
    remarks.append(text)
    changed.yield()
  }

  // MARK: - For the screen

  func take(limit: Int, now: MonotonicTime) async -> TopChanges {
    let change = await changes?.take() ?? MirrorChange(services: [])
    var taken = TopChanges()
    taken.removed = change.forgotten
    let up = Set(change.services.lazy.filter(\.isUp).map(\.path))
    for accessory in change.accessories {
      // Of two that were at one place, the list shows the one that is there.
      guard !accessory.isReplaced || accessory.record != nil else {
        taken.removed.append(accessory.id)
        continue
      }
      pauses[accessory.id] = Self.pause(accessory.record)
      taken.rows.append(TopRow(accessory, isServed: up.contains(accessory.service)))
    }
    for key in taken.removed { pauses[key] = nil }
    let away = change.services.filter { !$0.isUp }
    if !away.isEmpty {
      taken.notes = away.map { "Waiting for the service at \(SafeText.escape($0.path, limit: 100))" }
    } else if up.isEmpty {
      taken.notes = ["Waiting for a service"]
    }
    if up.isEmpty {
      taken.notes.append("To start it: sudo systemctl start accessory-bridge, or without systemd: bridge-cli serve")
    }
    taken.notes += remarks
    taken.emptyText =
      isOwn
      ? "No accessory found yet: what is plugged in appears here. To simulate one: bridge-cli simulate framed"
      : "The service has no accessory yet. To set one up: bridge-cli setup. To simulate one: bridge-cli simulate framed"
    taken.refreshAfter = pauses.values.min()
    return taken
  }

  func refresh() async { _ = await mirror.refreshed(olderThan: .milliseconds(200)) }

  func values(of keys: [UInt64]) async -> [UInt64: [AccessoryValue]] { [:] }

  /// The charge, the voltage and the current of a battery.
  func history(of key: UInt64) async -> [ReadingSeries] {
    guard let device = await device(for: key) else { return [] }
    defer { device.client.close() }
    let names = [ReadingSeries.percent, ReadingSeries.voltage, ReadingSeries.current]
    guard let answer = try? await device.history(names) else { return [] }
    return names.compactMap { name in answer.series.first { $0.name == name } }
  }

  /// The accessory of this row, with a connection of its own; nil if its service doesn't answer.
  func device(for key: UInt64) async -> BridgeDevice? {
    guard let accessory = await mirror.accessory(key),
      let client = try? await BridgeClient.connect(to: accessory.service, replyTimeout: Self.patience)
    else { return nil }
    let id = accessory.device.id
    return accessory.record.map { client.device($0, label: id) } ?? client.device(id)
  }

  // MARK: - Lists

  /// When the list is worth asking for although there is no news: while an accessory is opened or tried again.
  private static func pause(_ record: Bridge.Accessory?) -> Duration? {
    switch record?.state {
    case .opening: .seconds(1)
    case .waiting: record?.next_try_ms.map { max(.seconds(1), .milliseconds(min($0, 3_600_000) + 500)) }
    case .attached, .lent, .failed, nil: nil
    }
  }
}
