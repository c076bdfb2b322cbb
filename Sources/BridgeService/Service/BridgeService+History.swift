// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// What was read of accessories over time. The service reads nothing for it: it keeps what it reads anyway.

extension BridgeService {
  /// Keeps a reading of a battery.
  func record(_ reading: BatteryReading, _ attachment: Attachment) {
    record(reading.historyValues.map { ($0.name, $0.unit, $0.value) }, attachment)
  }

  /// Keeps the numbers among values.
  func record(_ values: [AccessoryValue], _ attachment: Attachment) {
    record(
      values.prefix(ReadingLimits.values).compactMap { value in
        let value = value.bounded
        return value.historyNumber.map { (value.name, value.unit?.rawValue, $0) }
      }, attachment)
  }

  private func record(_ values: [(name: String, unit: String?, value: Double)], _ attachment: Attachment) {
    guard !values.isEmpty else { return }
    let isKept = history.note(
      values, of: attachment.device.id, at: clock.bootTime, wall: configuration.wallClock())
    scheduleHistoryWrite()
    if !isKept {
      log.notice(
        "\(attachment.name) has more values than the history keeps: it keeps the first \(HistoryLadder.seriesLimit)")
    }
  }

  package func history(_ call: Bridge.GetHistory, from caller: Caller) async throws(CallError)
    -> Bridge.GetHistory.Reply
  {
    if let since = call.since, !since.isFinite || since < 0 { throw .invalidParameter("since") }
    let device: Bridge.Device?
    let extract: HistoryExtract?
    do throws(CallError) {
      let attachment = try find(call.device)
      (device, extract) = (Bridge.Device(attachment.target), recorded(attachment.device.id, call))
    } catch {
      // What was read of an accessory stays when the accessory is gone.
      guard error.accessoryError.kind == .notFound, let id = call.device, let known = recorded(id, call) else {
        throw error
      }
      (device, extract) = (nil, known)
    }
    return Bridge.GetHistory.Reply(device: device, series: await Self.series(extract, call.names))
  }

  private func recorded(_ id: String, _ call: Bridge.GetHistory) -> HistoryExtract? {
    history.extract(of: id, last: call.since, at: clock.bootTime, wall: configuration.wallClock())
  }

  /// Converts on another thread: the service continues meanwhile.
  @concurrent private static func series(_ extract: HistoryExtract?, _ names: [String]?) async -> [Bridge.Series] {
    (extract?.series(names) ?? []).map { Bridge.Series($0) }
  }
}
