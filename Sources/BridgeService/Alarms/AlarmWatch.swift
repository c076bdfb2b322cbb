// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// Evaluates alarm rules on the readings that the service makes anyway, with one timer for delays and silence. Used on the service's
/// actor only.
final class AlarmWatch {
  /// The rules from the configuration and the command line.
  private var rules: AlarmRules
  private var book = AlarmBook(limit: BridgeService.deviceLimit)
  private var lines = AlarmLog()
  private(set) var timer = DeadlineTimer()

  init(_ rules: AlarmRules) { self.rules = rules }

  /// Whether silence is counted for an accessory that the service doesn't hold.
  var awaitsSilence: Bool { book.awaitsSilence }

  /// Replaces the rules of the configuration and of the command line. Rules that stay keep their state.
  func use(_ rules: AlarmRules, on service: isolated BridgeService) {
    guard rules != self.rules else { return }
    self.rules = rules
    for attachment in service.attachments.ordered { watch(attachment, on: service) }
  }

  /// Starts to watch an accessory by the rules that apply to it. `raised` are the alarms that it had when it was last watched.
  func watch(_ attachment: Attachment, raised: [AccessoryAlarm] = [], on service: isolated BridgeService) {
    let (rules, tooMany) = rules.rules(for: attachment.subject, attachment.profile)
    if tooMany > 0 {
      service.log.warning(
        "\(attachment.name) has more than \(AlarmRule.countLimit) alarms: the last \(tooMany) are not watched")
    }
    tell(
      book.watch(attachment.alarmKey, attachment.target, rules, raised: raised, now: service.clock.now), on: service)
    countSilence(of: attachment, on: service)
  }

  /// The accessory's last readings have changed, or were confirmed.
  func judge(_ attachment: Attachment, on service: isolated BridgeService) {
    guard book.watches(attachment.alarmKey) else { return }
    let readings = attachment.readings
    tell(
      book.take(
        attachment.alarmKey,
        AlarmReadings(
          battery: readings.battery?.value, status: readings.status?.value, values: readings.values),
        now: service.clock.now, wallClock: service.wallClock), on: service)
    for unfit in book.takeNewUnfit(attachment.alarmKey) {
      service.log.warning("\(attachment.name): the rule \(SafeText.escape(unfit.description, limit: 600))")
    }
    schedule(attachment.alarmKey, on: service)
  }

  /// The accessory has sent something other than a reading.
  func heard(_ attachment: Attachment, on service: isolated BridgeService) {
    guard book.watches(attachment.alarmKey) else { return }
    tell(
      book.heard(attachment.alarmKey, now: service.clock.now, wallClock: service.wallClock), on: service)
    schedule(attachment.alarmKey, on: service)
  }

  /// Silence counts unless another program has the accessory, or the service has closed it because it was idle.
  func countSilence(of attachment: Attachment, on service: isolated BridgeService) {
    guard book.watches(attachment.alarmKey) else { return }
    let isCounted = attachment.machine.state != .lent && !attachment.machine.isResting
    book.countSilence(attachment.alarmKey, isCounted, now: service.clock.now)
    schedule(attachment.alarmKey, on: service)
  }

  /// The attachment is released; see `AlarmBook.drop`.
  func drop(_ attachment: Attachment, isAway: Bool, on service: isolated BridgeService) {
    tell(
      book.drop(attachment.alarmKey, isAway: isAway && !service.isClosing, now: service.clock.now), on: service)
    schedule(attachment.alarmKey, on: service)
  }

  /// The rules that can't be compared with what the accessory reported; nil where there are none.
  func unfit(_ attachment: Attachment) -> [UnfitAlarm]? {
    let unfit = book.unfit(attachment.alarmKey)
    return unfit.isEmpty ? nil : unfit
  }

  /// Forgets an accessory that isn't attached: its alarms are cleared.
  func forget(_ key: String, on service: isolated BridgeService) {
    tell(book.drop(key, isAway: false, now: service.clock.now), on: service)
  }

  /// The raised alarms of an accessory; nil where none of its rules is watched.
  func raised(_ key: String) -> [AccessoryAlarm]? {
    book.watches(key) ? book.raised(key).map(AccessoryAlarm.init) : nil
  }

  /// Events that inform a new subscriber about the raised alarms.
  func raisedEvents(of attachment: Attachment?, on service: isolated BridgeService) -> [Bridge.Event] {
    let watched = book.raised.filter { attachment == nil || $0.key == attachment?.alarmKey }
    var raised = watched.map { ($0.device, AccessoryAlarm($0.alarm)) }
    // Of accessories that were gone before the service has started.
    for record in attachment == nil ? service.memory.all(on: service) : [] where !book.watches(record.device.id) {
      raised += (record.alarms ?? []).map { (record.device, $0) }
    }
    return raised.map { device, alarm in
      Bridge.Event(.alarm, time: service.wallClock, device: device, alarm: alarm, state: .raised)
    }
  }

  private func tell(_ news: [AlarmBook.News], on service: isolated BridgeService) {
    for one in news where !service.isClosing {
      if let line = lines.take(one, now: service.clock.now) { log(line, on: service) }
      service.clients.events.tell(
        Bridge.Event(
          .alarm, time: service.wallClock, device: one.device, alarm: AccessoryAlarm(one.news.alarm),
          state: one.news.change))
    }
    schedule(at: lines.deadline, on: service)
  }

  private func log(_ line: AlarmLog.Line, on service: isolated BridgeService) {
    service.log.log(level: line.isRaised ? .warning : .notice, "\(line.text)")
  }

  // MARK: - The timer

  private func schedule(_ key: String, on service: isolated BridgeService) {
    schedule(at: book.deadline(of: key), on: service)
  }

  private func schedule(at deadline: MonotonicTime?, on service: isolated BridgeService) {
    timer.advance(to: deadline, on: service.clock) { [weak service] deadline in
      service?.post { $0.alarms.timePassed(deadline, on: $0) }
    }
  }

  private func timePassed(_ deadline: MonotonicTime, on service: isolated BridgeService) {
    guard timer.deadline == deadline, !service.isClosing else { return }
    timer.ended()
    for line in lines.timePassed(now: service.clock.now) { log(line, on: service) }
    tell(book.timePassed(now: service.clock.now, wallClock: service.wallClock), on: service)
    schedule(at: book.deadline, on: service)
    service.checkIdle()
  }

  /// Cancels the timer when the service ends.
  func end(on service: isolated BridgeService) { timer.cancel(on: service.clock) }
}
