// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Alarms of accessories: on the readings that the service makes anyway, and one timer for delays and silence.

extension BridgeService {
  /// Replaces the rules of the configuration and of the command line. Rules that stay keep their state.
  package func use(_ rules: AlarmRules) {
    guard rules != alarmRules else { return }
    alarmRules = rules
    for attachment in ordered { watchAlarms(of: attachment) }
  }

  /// Watches an accessory by the rules that are for it.
  func watchAlarms(of attachment: Attachment) {
    let (rules, tooMany) = alarmRules.rules(for: attachment.subject, attachment.profile)
    if tooMany > 0 {
      log.warning(
        "\(attachment.name) has more than \(AlarmRule.countLimit) alarms: the last \(tooMany) are not watched")
    }
    tell(alarms.watch(attachment.alarmKey, Bridge.Device(attachment.target), rules, now: clock.now))
    countSilence(of: attachment)
  }

  /// The key of an accessory's alarms: its identity, by which it is known again when it comes back. Where another
  /// accessory with the same identity is held, also its place.
  func alarmKey(for device: Device) -> String {
    attachments.values.contains { $0.alarmKey == device.id } ? "\(device.id) \(device.place)" : device.id
  }

  /// The accessory's last readings have changed, or were confirmed.
  func judge(_ attachment: Attachment) {
    guard alarms.watches(attachment.alarmKey) else { return }
    let readings = attachment.readings
    tell(
      alarms.take(
        attachment.alarmKey,
        AlarmReadings(
          battery: readings.battery?.value, status: readings.status?.value, values: readings.values),
        now: clock.now, wallClock: Self.wallClock))
    for unfit in alarms.takeNewUnfit(attachment.alarmKey) {
      log.warning("\(attachment.name): the rule \(SafeText.escape(unfit.description, limit: 600))")
    }
    scheduleAlarms(of: attachment.alarmKey)
  }

  /// The accessory was heard, without a reading.
  func noteHeard(_ attachment: Attachment) {
    guard alarms.watches(attachment.alarmKey) else { return }
    tell(alarms.heard(attachment.alarmKey, now: clock.now, wallClock: Self.wallClock))
    scheduleAlarms(of: attachment.alarmKey)
  }

  /// Silence counts unless another program has the accessory, or the service has closed it because it was idle.
  func countSilence(of attachment: Attachment) {
    guard alarms.watches(attachment.alarmKey) else { return }
    let isCounted = attachment.machine.state != .lent && !attachment.machine.isResting
    alarms.countSilence(attachment.alarmKey, isCounted, now: clock.now)
    scheduleAlarms(of: attachment.alarmKey)
  }

  /// The attachment is released; see `AlarmBook.drop`.
  func dropAlarms(of attachment: Attachment, isAway: Bool) {
    tell(alarms.drop(attachment.alarmKey, isAway: isAway && !isClosing, now: clock.now))
    scheduleAlarms(of: attachment.alarmKey)
  }

  /// An accessory's facts with its raised alarms.
  func facts(_ attachment: Attachment) -> Bridge.Accessory {
    var facts = attachment.facts(clock)
    facts.alarms = raisedAlarms(of: attachment)
    facts.unfit_alarms = unfitAlarms(of: attachment)
    return facts
  }

  /// The rules that can't be compared with what the accessory reported; nil where there are none.
  func unfitAlarms(of attachment: Attachment) -> [Bridge.UnfitAlarm]? {
    let unfit = alarms.unfit(attachment.alarmKey).map(Bridge.UnfitAlarm.init)
    return unfit.isEmpty ? nil : unfit
  }

  /// The raised alarms of an accessory.
  func raisedAlarms(of attachment: Attachment) -> [Bridge.Alarm] {
    alarms.raised(attachment.alarmKey).map(Bridge.Alarm.init)
  }

  // MARK: - The timer

  /// Sets the timer for an accessory's deadline, unless it is set for an earlier time. A timer that comes too early sets
  /// itself again, so a deadline that each reading moves doesn't cost a timer each time.
  private func scheduleAlarms(of key: String) {
    guard let deadline = alarms.deadline(of: key) else { return }
    scheduleAlarms(at: deadline)
  }

  private func scheduleAlarms(at deadline: MonotonicTime) {
    if let timer = alarmTimer {
      guard deadline < timer.deadline else { return }
      clock.cancel(timer.token)
    }
    let token = clock.schedule(at: deadline) { [weak self] in self?.post { $0.alarmTimePassed(deadline) } }
    alarmTimer = (deadline, token)
  }

  private func alarmTimePassed(_ deadline: MonotonicTime) {
    guard alarmTimer?.deadline == deadline, !isClosing else { return }
    alarmTimer = nil
    tell(alarms.timePassed(now: clock.now, wallClock: Self.wallClock))
    if let next = alarms.deadline { scheduleAlarms(at: next) }
    checkIdle()
  }

  // MARK: - Events

  private func tell(_ news: [AlarmBook.News]) {
    for one in news where !isClosing {
      let alarm = Bridge.Alarm(one.news.alarm)
      let name = SafeText.escape(one.device.id)
      let value = alarm.value.map { ", " + SafeText.escape($0, limit: 200) } ?? ""
      switch one.news.change {
      case .raised: log.warning("\(name): alarm: \(SafeText.escape(alarm.name, limit: 200))\(value)")
      case .cleared: log.notice("\(name): alarm cleared: \(SafeText.escape(alarm.name, limit: 200))\(value)")
      }
      let event = Bridge.Event(
        .alarm, time: Self.wallClock, device: one.device, alarm: alarm, state: Bridge.AlarmState(one.news.change))
      hooks.onEvent?(event)
      events.tell(EventHub.Entry(event))
    }
  }

  /// The events that tell a new subscriber of the raised alarms.
  func raisedEvents(of attachment: Attachment?) -> [Bridge.Event] {
    alarms.raised.filter { attachment == nil || $0.key == attachment?.alarmKey }.map { _, device, alarm in
      Bridge.Event(.alarm, time: Self.wallClock, device: device, alarm: Bridge.Alarm(alarm), state: .raised)
    }
  }
}
