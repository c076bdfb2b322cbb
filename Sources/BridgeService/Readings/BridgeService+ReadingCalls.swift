// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Calls that read an accessory: its status, its battery and its values, by the same rules.

extension BridgeService {
  package func status(_ call: Bridge.GetStatus, from caller: Caller) async throws(CallError) -> Bridge.GetStatus.Reply {
    let known = rememberedIdentity(try find(call.device))
    return try await read(call, .status) { attachment in
      let identity = attachment.readings.identity?.value
      guard identity != nil || attachment.machine.state == .attached else { return nil }
      return attachment.readings.status.map {
        StatusAndIdentity(status: $0.value, identity: identity ?? AccessoryIdentity())
      }
    } ask: { accessory throws(AccessoryError) in
      try await accessory.readStatusAndIdentity(known: known)
    } note: { read, attachment in
      if known == nil { attachment.readings.note(read.identity, at: clock.bootTime) }
      note(read.status, attachment, isEvent: false)
      return read
    }
  }

  package func battery(
    _ call: Bridge.GetBattery, from caller: Caller
  ) async throws(CallError) -> Bridge.GetBattery.Reply {
    try await read(call, .battery) { attachment in
      attachment.readings.battery?.value
    } ask: { accessory throws(AccessoryError) in
      try await accessory.readBattery()
    } note: { read, attachment in
      note(read, attachment, isEvent: false)
    }
  }

  package func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply {
    try await read(call, .values) { attachment in
      attachment.readings.values?.entries.map { measured($0, attachment) }
    } ask: { accessory throws(AccessoryError) in
      try await accessory.readValues()
    } note: { (read: [AccessoryValue], attachment) in
      note(read, .asked, attachment)
      return (attachment.readings.values?.values ?? []).map { Read($0) }
    }
  }

  /// Reads a part of an accessory's state. `last` is what was read of it before, `ask` asks the accessory, and `note` keeps its answer.
  private func read<Answer: Sendable, Value>(
    _ call: Bridge.GetReading<Value>, _ part: AccessoryPoll.Part, last: (Attachment) -> Value?,
    ask: (any Accessory) async throws(AccessoryError) -> Read<Answer>, note: (Answer, Attachment) -> Value
  ) async throws(CallError) -> Bridge.ReadingReply<Value> {
    let (attachment, isFresh, start) = (try find(call.device), call.fresh == true, clock.bootTime)
    if let ability = part.ability {
      do throws(AccessoryError) {
        try attachment.driver?.check(ability, label: attachment.target.place)
      } catch {
        throw CallError(error, device: attachment.device.id)
      }
    }
    if isRemembered(part, attachment), !isFresh {
      guard let value = last(attachment) else { throw nothingRemembered(attachment) }
      return reply(value, attachment, remembered: part)
    }
    do throws(CallError) {
      let (held, (read, unanswered)) = try await work(call.device) { attachment, accessory throws(AccessoryError) in
        var read = try await ask(accessory)
        if isFresh, try await self.isHeardAgain(part, accessory, attachment, since: start) {
          read = try await ask(accessory)
        }
        return (read, accessory.unanswered)
      }
      self.note(missing: unanswered, held)
      let value = note(read.value, held)
      // Of what an accessory only tells, the interface says the age of the battery alone.
      let isHeard = part == .battery && held.driver?.onlyTells(part) == true
      return reply(value, held, remembered: isHeard ? part : nil, missing: read.missing)
    } catch {
      // An accessory that reports this by itself may have no request for it: the last reading is returned.
      guard !isFresh, error.accessoryError.kind == .unsupported, let held = try? find(call.device),
        let value = last(held)
      else { throw error }
      return reply(value, held, remembered: part)
    }
  }

  /// A reading with what belongs to it. `part` is given where it wasn't made for the call.
  private func reply<Value>(
    _ value: Value, _ attachment: Attachment, remembered part: AccessoryPoll.Part? = nil, missing: String? = nil
  ) -> Bridge.ReadingReply<Value> {
    var read = Read(value)
    if let part, let time = attachment.readings.time(of: part) {
      (read.age, read.isStale) = age(part, time, attachment)
    }
    (read.missing, read.alarms, read.unfitAlarms) = (
      missing, alarms.raised(attachment.alarmKey) ?? [], alarms.unfit(attachment)
    )
    return Bridge.ReadingReply(device: attachment.target, read)
  }

  // MARK: - Earlier readings

  /// Whether to reply with the last reading instead of asking the accessory: it is lent, or it only sends this part by itself and
  /// hasn't done so for too long, so waiting would be pointless.
  func isRemembered(_ part: AccessoryPoll.Part, _ attachment: Attachment) -> Bool {
    attachment.machine.state == .lent
      || attachment.machine.state == .attached && attachment.driver?.onlyTells(part) == true
        && attachment.readings.isOverdue(part, now: clock.bootTime)
  }

  /// The error of a call that needs a last reading when there is none.
  private func nothingRemembered(_ attachment: Attachment) -> CallError {
    if attachment.machine.state == .lent { return attachment.lending.refusal(attachment) }
    let message =
      "\(attachment.target.address) can't be asked for readings: it sends them by itself, and has sent none of these for too long. "
      + "Is it switched on?"
    return CallError(AccessoryError(.timedOut, message), device: attachment.device.id)
  }

  /// The age of what was read at `time`, and whether it is stale.
  func age(_ part: AccessoryPoll.Part, _ time: MonotonicTime, _ attachment: Attachment) -> (Duration, isStale: Bool) {
    let now = clock.bootTime
    return (Readings.age(of: time, now: now), attachment.readings.isStale(part, time, now: now))
  }

  // MARK: - Fresh readings

  /// The longest wait for what an accessory sends by itself.
  private static let patience = Duration.seconds(30)

  /// Waits until an accessory that sends this part by itself has sent it after `start`, for as long as its readings are fresh. Nothing is
  /// asked. Returns false where that is so already, as it is with an accessory that was asked. Throws `timedOut`.
  private func isHeardAgain(
    _ part: AccessoryPoll.Part, _ accessory: any Accessory, _ attachment: Attachment, since start: MonotonicTime
  ) async throws(AccessoryError) -> Bool {
    let isOld: @Sendable () -> Bool = { accessory.toldTime(of: part).map { $0 < start } ?? false }
    let news = accessory.news()
    guard isOld() else { return false }
    let limit = min(attachment.driver?.freshness ?? Self.patience, Self.patience)
    do throws(AccessoryError) {
      try await TimeLimit.run(limit, clock, label: accessory.label) { () throws(AccessoryError) in
        for try await _ in news where !isOld() { return }
      }
    } catch {
      guard error.kind == .timedOut else { throw error }
      throw AccessoryError(
        .timedOut,
        "\(accessory.label) sends this by itself and can't be asked for it, and it sent nothing new for \(limit). "
          + "Is it switched on?")
    }
    return true
  }
}

extension AccessoryPoll.Part {
  /// What an accessory must have for it. A status is unknown where the protocol has none.
  fileprivate var ability: DriverAbility? {
    switch self {
    case .status: nil
    case .battery: .battery
    case .values: .values
    }
  }
}
