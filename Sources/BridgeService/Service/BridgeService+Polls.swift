// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

// The polling of attached accessories. Each accessory with polls has one timer.

extension BridgeService {
  /// The interval of a poll: the user's setting, or else the profile's, or else the driver's; nil for never.
  func interval(of poll: AccessoryPoll, _ profile: Profile?) -> Duration? {
    if let wanted = configuration.poll { return wanted.duration }
    return (profile?.polls ?? PollPolicy()).interval(of: poll)
  }

  /// Begins to poll, after the first reading of identity, status and battery.
  func beginPolls(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation, let driver = attachment.driver else {
      return
    }
    let profile = attachment.profile
    attachment.readings.polls = PollSchedule(
      driver.polls, letsSleep: profile?.polls.letsSleep ?? false, interval: { interval(of: $0, profile) },
      now: clock.now)
    schedulePoll(attachment)
  }

  /// Sets the timer for the next poll.
  private func schedulePoll(_ attachment: Attachment) {
    let deadline = attachment.open == nil ? nil : attachment.readings.polls.deadline
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.pollTimer.set(deadline, on: clock) { [weak self] in self?.post { $0.poll(key, generation) } }
  }

  private func poll(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation,
      let accessory = attachment.open?.accessory
    else { return }
    attachment.contact.pollTimer.ended()
    guard let poll = attachment.readings.polls.take(now: clock.now) else { return schedulePoll(attachment) }
    run { await self.make(poll, accessory, key, generation) }
  }

  private func make(_ poll: AccessoryPoll, _ accessory: any Accessory, _ key: Int, _ generation: Int) async {
    guard let asked = attachments[key], asked.generation == generation else { return }
    asked.beginCall()
    defer { asked.endCall() }
    let answer: Result<[AccessoryNews], AccessoryError>
    do throws(AccessoryError) {
      answer = .success(try await accessory.poll(poll))
    } catch {
      answer = .failure(error)
    }
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    switch answer {
    case .success(let news):
      attachment.readings.polls.ended(nil, now: clock.now)
      alarms.heard(attachment, on: self)
      for one in news { note(polled: one, attachment) }
    case .failure(let error):
      log.debug(
        "\(attachment.name) doesn't answer the poll \(poll.name): \(SafeText.escape(error.message, limit: 300))")
      attachment.readings.polls.ended(error, now: clock.now)
      if attachment.readings.polls.isAsleep {
        log.info("\(attachment.name) seems to sleep: it is polled again when it has sent something")
      } else if attachment.device.unit != nil, attachment.readings.polls.silences >= Self.silencesOfUnit {
        // The line and its other units are still there. Only this unit counts as gone; it is tried with growing pauses.
        return perform(attachment.machine.ended(error, now: clock.now), on: attachment)
      }
    }
    schedulePoll(attachment)
  }

  /// After this many unanswered polls in a row a unit counts as gone.
  private static let silencesOfUnit = 2

  private func note(polled news: AccessoryNews, _ attachment: Attachment) {
    switch news {
    case .battery(let reading): note(reading, attachment, isEvent: false)
    case .status(let status): note(status, attachment, isEvent: false)
    case .values(let values): note(values, .polled, attachment)
    case .other: break
    }
  }

  /// The accessory has sent something, so it isn't asleep.
  func showedLife(_ attachment: Attachment) {
    guard attachment.readings.polls.isAsleep else { return }
    attachment.readings.polls.showedLife(now: clock.now)
    schedulePoll(attachment)
  }
}
