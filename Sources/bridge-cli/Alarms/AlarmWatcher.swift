// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import BridgeService
import CommandOutput

/// Watches accessories by the rules of the command line, on readings that others make.
actor AlarmWatcher {
  typealias Body = @Sendable (Device, AccessoryAlarm, AlarmChange) async -> Void

  /// Takes what is wrong with a rule, or with a service.
  typealias Note = @Sendable (String) -> Void

  private let rules: [AlarmRule]
  private let clock: any TimerClock
  private let body: Body
  private let note: Note
  private var book = AlarmBook(limit: ReplyLimits.devices)
  /// The last readings by the accessories' identities. A hostile service could report any number of accessories.
  private var readings = ReportedDevices<AlarmReadings>()
  private var timer = DeadlineTimer()
  private var hasReportedTooMany = false

  /// Calls `body` for each alarm that is raised or cleared.
  init(
    _ rules: [AlarmRule], clock: any TimerClock = IOThread.shared, note: @escaping Note = { Output.note($0) },
    _ body: @escaping Body
  ) {
    (self.rules, self.clock, self.note, self.body) = (rules, clock, note, body)
  }

  /// Whether any rule looks at values.
  nonisolated var wantsValues: Bool { rules.contains { $0.looksAtValues } }

  /// An accessory is there, and its silence counts from now on.
  func watch(_ device: Device) {
    guard !rules.isEmpty, keep(readings[device.id] ?? AlarmReadings(), of: device) else { return }
    _ = book.watch(device.id, device, rules, now: clock.now)
    schedule(book.deadline(of: device.id))
  }

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

  func end() { timer.cancel(on: clock) }

  private func take(_ device: Device, _ change: (inout AlarmReadings) -> Void) async {
    watch(device)
    guard var its = readings[device.id] else { return }
    change(&its)
    _ = keep(its, of: device)
    let news = book.take(device.id, its, now: clock.now, wallClock: WallClock.seconds)
    for unfit in book.takeNewUnfit(device.id) {
      note("\(SafeText.escape(device.id)): the rule \(SafeText.escape(unfit.description, limit: 600))")
    }
    schedule(book.deadline(of: device.id))
    await tell(news)
  }

  /// False when there is no room.
  private func keep(_ its: AlarmReadings, of device: Device) -> Bool {
    if readings.keep(its, for: device.id, size: device.textByteCount) { return true }
    if !hasReportedTooMany { note("a service reports too many accessories: not all of them are watched") }
    hasReportedTooMany = true
    return false
  }

  private func schedule(_ deadline: MonotonicTime?) {
    timer.advance(to: deadline, on: clock) { [weak self] deadline in
      Task { await self?.timePassed(deadline) }
    }
  }

  private func timePassed(_ deadline: MonotonicTime) async {
    guard timer.deadline == deadline else { return }
    timer.ended()
    let news = book.timePassed(now: clock.now, wallClock: WallClock.seconds)
    schedule(book.deadline)
    await tell(news)
  }

  private func tell(_ news: [AlarmBook.News]) async {
    for one in news { await body(one.device, AccessoryAlarm(one.news.alarm), one.news.change) }
  }
}
