// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput

/// Rows of `top` for the accessories of services.
enum ServiceTopRows {
  /// A row for each accessory that a service lists, and for each that was connected before.
  static func rows(_ snapshot: MirrorSnapshot) -> [TopRow] {
    var known: [String: MirroredAccessory] = [:]
    for entry in snapshot.accessories { known[key(entry.service, entry.device)] = entry }
    var rows: [TopRow] = []
    for service in snapshot.services {
      for accessory in service.records {
        let key = key(service.path, accessory.device)
        rows.append(row(key, accessory, known.removeValue(forKey: key), isUp: service.isUp))
      }
    }
    let taken = Set(snapshot.accessories.lazy.filter(\.isConnected).map { $0.service + "\n" + $0.device.place })
    // Another device may be where one was that is gone.
    for (key, entry) in known where entry.isConnected || !taken.contains(entry.service + "\n" + entry.device.place) {
      let isUp = snapshot.services.contains { $0.path == entry.service && $0.isUp }
      rows.append(row(key, nil, entry, isUp: isUp))
    }
    return rows
  }

  private static func key(_ service: String, _ device: Bridge.Device) -> String {
    "\(service)\n\(device.place)\n\(device.id)"
  }

  private static func row(
    _ key: String, _ accessory: Bridge.Accessory?, _ entry: MirroredAccessory?, isUp: Bool
  ) -> TopRow {
    let device = accessory?.device ?? entry?.device
    var row = TopRow(key: key, name: device?.id ?? "-")
    if let entry {
      (row.battery, row.status, row.readTime) = (entry.battery, entry.status, entry.readTime)
      row.values = entry.values.values
      row.isStale = entry.isStale
      row.alarms = (entry.alarms ?? []).map(TopRow.Alarm.init)
    } else {
      row.values = []
    }
    state(of: &row, accessory, entry, isUp: isUp)
    row.facts = facts(device, accessory, entry)
    return row
  }

  private static func state(
    of row: inout TopRow, _ accessory: Bridge.Accessory?, _ entry: MirroredAccessory?, isUp: Bool
  ) {
    guard isUp else {
      (row.reach, row.state) = (.away, "no service")
      return
    }
    // An event reports a disconnect before the next list does.
    let isConnected = entry?.isConnected ?? false
    guard let accessory else {
      (row.reach, row.state) = isConnected ? (.attached, "attached") : (.away, "gone")
      return
    }
    if accessory.state != .attached { row.problem = accessory.problem.map { SafeText.escape($0.message, limit: 300) } }
    switch accessory.state {
    case .attached, .lent: row.reach = isConnected ? .attached : .away
    case .opening: row.reach = .trying
    case .waiting: row.reach = accessory.isReachable ? .attached : accessory.next_try_ms == nil ? .away : .trying
    case .failed: row.reach = .away
    }
    row.state =
      row.reach == .away && accessory.isReachable
      ? "gone" : row.reach == .attached && accessory.state == .attached ? working(row.status) : HeldView.word(accessory)
  }

  /// What an attached accessory does: "idle", "busy 40 %".
  private static func working(_ status: AccessoryStatus?) -> String {
    guard let status, let state = status.state, state != .notInitialized else { return "attached" }
    return state.word + (status.progress.map { " \($0) %" } ?? "")
  }

  private static func facts(
    _ device: Bridge.Device?, _ accessory: Bridge.Accessory?, _ entry: MirroredAccessory?
  ) -> [TopRow.Fact] {
    var facts: [TopRow.Fact] = []
    func add(_ name: String, _ text: String?) {
      guard let text, !text.isEmpty else { return }
      facts.append(TopRow.Fact(name, SafeText.escape(text, limit: 200)))
    }
    add("Name", entry?.identity?.name ?? device?.name)
    add("Manufacturer", entry?.manufacturer ?? device?.manufacturer)
    add("Model", entry?.model ?? device?.model)
    add("Firmware", entry?.identity?.firmwareRevision)
    add("Path", device?.place)
    if let accessory { facts.append(TopRow.Fact("Service", HeldView.state(accessory))) }
    for unfit in accessory?.unfit_alarms ?? [] { add("Alarm", "\(unfit.name) is never raised: \(unfit.reason)") }
    add("Profile", accessory?.profile ?? entry?.profile)
    add("Driver", accessory?.driver ?? entry?.driver)
    return facts
  }
}
