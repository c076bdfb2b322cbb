// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import CommandOutput

/// The accessories of services, for `top`: a view of the mirror.
actor ServiceTopFeed: TopFeed {
  nonisolated let news: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation
  private let mirror = ServiceMirror([.values, .alarms, .readings, .lists, .freshness])
  private let places: [String]
  /// Whether the only service is in this process.
  private let isOwn: Bool
  private var shown: [String: TopRow] = [:]
  /// The rules of the command line, the alarms that they have raised, by the accessories' identities, and what is wrong with
  /// them.
  private let rules: [AlarmRule]
  private var raised: [String: [AccessoryAlarm]] = [:]
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
      device, alarm, state in await self.take(device, alarm, state)
    }
    var hooks = ServiceMirror.Hooks()
    if !rules.isEmpty { hooks.happened = { event, place, _ in await alarms.take(event, of: place) } }
    await withTaskGroup { group in
      group.addTask { [mirror, hooks] in await mirror.run(services, hooks) }
      group.addTask { [mirror, changed] in for await _ in mirror.news { changed.yield() } }
    }
    await alarms.end()
  }

  // MARK: - Alarms of the command line

  private func take(_ device: Device, _ alarm: AccessoryAlarm, _ state: AlarmChange) {
    // The service's own alarms come with its readings.
    guard rules.contains(where: { $0.name == alarm.name && $0.text == alarm.rule }) else { return }
    var alarms = (raised[device.id] ?? []).filter { $0.name != alarm.name }
    if state == .raised { alarms.append(alarm) }
    raised[device.id] = alarms.isEmpty ? nil : alarms
    changed.yield()
  }

  private func remark(_ text: String) {
    guard remarks.count < Self.remarkLimit else { return }
    remarks.append(text)
    changed.yield()
  }

  private func addRaised(to row: inout TopRow, _ id: String) {
    let its = row.accessory.alarms ?? []
    // The service's own may say the same.
    row.accessory.alarms = its + (raised[id] ?? []).filter { !its.map(TopRow.Alarm.init).contains(TopRow.Alarm($0)) }
  }

  // MARK: - For the screen

  func take(limit: Int, now: MonotonicTime) async -> TopChanges {
    let snapshot = await mirror.snapshot
    var changes = TopChanges()
    var rows: [String: TopRow] = [:]
    for var row in ServiceTopRows.rows(snapshot) {
      if !raised.isEmpty, let id = row.key.split(separator: "\n", omittingEmptySubsequences: false).last {
        addRaised(to: &row, String(id))
      }
      rows[row.key] = row
    }
    for (key, row) in rows where shown[key] != row { changes.rows.append(row) }
    changes.removed = shown.keys.filter { rows[$0] == nil }
    shown = rows
    let away = snapshot.services.filter { !$0.isUp }
    let isUp = snapshot.services.contains { $0.isUp }
    if !away.isEmpty {
      changes.notes = away.map { "Waiting for the service at \(SafeText.escape($0.path, limit: 100))" }
    } else if !isUp {
      changes.notes = ["Waiting for a service"]
    }
    changes.notes += remarks
    changes.emptyText =
      isOwn
      ? "No accessory found yet: what is plugged in appears here. To simulate one: bridge-cli simulate framed"
      : "The service has no accessory yet. To simulate one: bridge-cli simulate framed"
    changes.refreshAfter = Self.patience(with: snapshot.services.lazy.flatMap(\.records))
    return changes
  }

  func refresh() async { _ = await mirror.refreshed(olderThan: .milliseconds(200)) }

  func values(of keys: [String]) async -> [String: [AccessoryValue]] { [:] }

  /// The charge, the voltage and the current of a battery.
  func history(of key: String) async -> [ReadingSeries] {
    guard let device = await device(for: key) else { return [] }
    defer { device.client.close() }
    let names = [ReadingSeries.percent, ReadingSeries.voltage, ReadingSeries.current]
    guard let answer = try? await device.history(names) else { return [] }
    return names.compactMap { name in answer.series.first { $0.name == name } }
  }

  /// The accessory of this row, with a connection of its own; nil if its service doesn't answer.
  func device(for key: String) async -> BridgeDevice? {
    let parts = key.split(separator: "\n", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    guard let client = try? await BridgeClient.connect(to: String(parts[0]), replyTimeout: Self.patience) else {
      return nil
    }
    let record = await mirror.snapshot.services.lazy.flatMap { service in
      service.records.lazy.filter { ServiceTopRows.key(service.path, $0.device) == key }
    }.first
    let id = String(parts[2])
    return record.map { client.device($0, label: id) } ?? client.device(id)
  }

  // MARK: - Lists

  /// When the list is worth asking for although there is no news: while accessories are opened or tried again.
  private static func patience(with accessories: some Sequence<Bridge.Accessory>) -> Duration? {
    accessories.compactMap { accessory -> Duration? in
      switch accessory.state {
      case .opening: .seconds(1)
      case .waiting: accessory.next_try_ms.map { max(.seconds(1), .milliseconds(min($0, 3_600_000) + 500)) }
      case .attached, .lent, .failed: nil
      }
    }.min()
  }
}
