// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

// The polling of attached accessories. There is one timer for each accessory with polls.

extension BridgeService {
  /// How often a poll is made: as the user says, or else the profile, or else the driver.
  func interval(of poll: AccessoryPoll, _ profile: Profile?) -> Duration? {
    if let wanted = configuration.poll { return wanted.duration }
    return (profile?.polls ?? PollPolicy()).interval(of: poll)
  }

  /// Begins to ask; what was asked when it was attached is answered.
  func beginPolls(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation, let driver = attachment.driver else {
      return
    }
    let profile = attachment.profile
    attachment.polls = PollSchedule(
      driver.polls, letsSleep: profile?.polls.letsSleep ?? false, interval: { interval(of: $0, profile) },
      now: clock.now)
    schedulePoll(attachment)
  }

  /// Sees to it that the next poll is made when it is time.
  private func schedulePoll(_ attachment: Attachment) {
    let deadline = attachment.open == nil ? nil : attachment.polls.deadline
    guard attachment.pollTimer?.deadline != deadline else { return }
    if let timer = attachment.pollTimer { clock.cancel(timer.token) }
    attachment.pollTimer = nil
    guard let deadline else { return }
    let (key, generation) = (attachment.key, attachment.generation)
    let token = clock.schedule(at: deadline) { [weak self] in self?.post { $0.poll(key, generation) } }
    attachment.pollTimer = (deadline, token)
  }

  private func poll(_ key: Int, _ generation: Int) {
    guard let attachment = attachments[key], attachment.generation == generation,
      let accessory = attachment.open?.accessory
    else { return }
    attachment.pollTimer = nil
    guard let poll = attachment.polls.take(now: clock.now) else { return schedulePoll(attachment) }
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
      attachment.polls.ended(nil, now: clock.now)
      for one in news { note(polled: one, attachment) }
    case .failure(let error):
      log.debug(
        "\(attachment.name) doesn't answer the poll \(poll.name): \(SafeText.escape(error.message, limit: 300))")
      attachment.polls.ended(error, now: clock.now)
      if attachment.polls.isAsleep {
        log.info("\(attachment.name) is left asleep: it isn't polled until it speaks, or answers somebody")
      } else if attachment.device.unit != nil, attachment.polls.silences >= Self.silencesOfUnit {
        // Its line is there, and the others on it: only this one is gone, and is asked less and less often.
        return perform(attachment.machine.ended(error, now: clock.now), on: attachment)
      }
    }
    schedulePoll(attachment)
  }

  /// How many polls in a row a unit may leave unanswered before it counts as gone.
  private static let silencesOfUnit = 2

  private func note(polled news: AccessoryNews, _ attachment: Attachment) {
    switch news {
    case .battery(let reading): note(reading, attachment, isEvent: false)
    case .status(let status): note(status, attachment, isEvent: false)
    case .values(let values): note(values, .polled, attachment)
    case .other: break
    }
  }

  /// The unit has sent something, so it isn't asleep.
  func showedLife(_ attachment: Attachment) {
    guard attachment.polls.isAsleep else { return }
    attachment.polls.showedLife(now: clock.now)
    schedulePoll(attachment)
  }
}
