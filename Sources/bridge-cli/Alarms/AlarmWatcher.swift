// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import CommandOutput

/// Watches accessories by the rules of the command line, on readings that others make.
actor AlarmWatcher {
  typealias Body = @Sendable (Device, AccessoryAlarm, AlarmChange) async -> Void

  /// Takes what is wrong with a rule, or with a service.
  typealias Note = @Sendable (String) -> Void

  private struct Record: Sendable {
    var device: Device
    var set: AlarmSet
    var readings = AlarmReadings()
  }

  private let rules: [AlarmRule]
  private let clock: any TimerClock
  private let body: Body
  private let note: Note
  /// The accessories by their identities. A hostile service could report any number of them.
  private var records = ReportedDevices<Record>()
  private var keys: Set<String> = []
  private var timer: (deadline: MonotonicTime, token: TimerToken)?
  private var hasReportedTooMany = false

  /// Calls `body` for each alarm that is raised or cleared.
  init(
    _ rules: [AlarmRule], clock: any TimerClock = IOThread.shared, note: @escaping Note = { Output.note($0) },
    _ body: @escaping Body
  ) {
    (self.rules, self.clock, self.note, self.body) = (rules, clock, note, body)
  }

  /// Whether there is anything to watch by.
  nonisolated var hasRules: Bool { !rules.isEmpty }

  /// Whether any rule looks at values.
  nonisolated var wantsValues: Bool { rules.contains { $0.looksAtValues } }

  /// An accessory is there, and its silence counts from now on.
  func watch(_ device: Device) { _ = begin(device) }

  func take(_ device: Device, battery: BatteryReading) async {
    await take(device) { $0.battery = battery }
  }

  func take(_ device: Device, status: AccessoryStatus) async { await take(device) { $0.status = status } }

  func take(_ device: Device, values: [AccessoryValue]) async {
    let now = clock.now
    await take(device) { readings in
      var all = readings.values ?? ValuesReading()
      all.take(values, at: now)
      readings.values = all
    }
  }

  /// Ends the timer.
  func end() {
    if let timer { clock.cancel(timer.token) }
    timer = nil
  }

  private func begin(_ device: Device) -> Bool {
    guard !rules.isEmpty else { return false }
    var record = records[device.id] ?? Record(device: device, set: AlarmSet(rules, now: clock.now))
    record.device = device
    guard records.keep(record, for: device.id, size: device.textByteCount) else {
      if !hasReportedTooMany { note("a service reports too many accessories: not all of them are watched") }
      hasReportedTooMany = true
      return false
    }
    if keys.insert(device.id).inserted { schedule(record.set.deadline) }
    return true
  }

  private func take(_ device: Device, _ change: (inout AlarmReadings) -> Void) async {
    guard begin(device), var record = records[device.id] else { return }
    change(&record.readings)
    let news = record.set.take(record.readings, now: clock.now, wallClock: WallClock.seconds)
    for unfit in record.set.takeNewUnfit() {
      note("\(SafeText.escape(device.id)): the rule \(SafeText.escape(unfit.description, limit: 600))")
    }
    _ = records.keep(record, for: device.id, size: device.textByteCount)
    schedule(record.set.deadline)
    await tell(news, device)
  }

  /// Sets the timer, unless it is set for an earlier time: then it sets itself again.
  private func schedule(_ deadline: MonotonicTime?) {
    guard let deadline else { return }
    if let timer {
      guard deadline < timer.deadline else { return }
      clock.cancel(timer.token)
    }
    timer = (deadline, clock.schedule(at: deadline) { [weak self] in Task { await self?.timePassed() } })
  }

  private func timePassed() async {
    timer = nil
    var next: MonotonicTime?
    for key in keys.sorted() {
      guard var record = records[key] else { continue }
      let news = record.set.timePassed(now: clock.now, wallClock: WallClock.seconds)
      _ = records.keep(record, for: key, size: record.device.textByteCount)
      if let deadline = record.set.deadline { next = min(next ?? deadline, deadline) }
      await tell(news, record.device)
    }
    schedule(next)
  }

  private func tell(_ news: [AlarmSet.News], _ device: Device) async {
    for one in news { await body(device, AccessoryAlarm(one.alarm), one.change) }
  }
}
