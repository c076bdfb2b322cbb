// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// What accessories measure beside their status and their battery. Nothing is asked of them but when a client asks.

extension BridgeService {
  package func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let values = attachment.values else { throw lent(attachment) }
      return remembered(values, of: attachment)
    }
    do throws(CallError) {
      let (held, values) = try await work(call.device) { _, accessory throws(AccessoryError) in
        try await accessory.values()
      }
      let reading = note(answered: values, held)
      return Bridge.GetValues.Reply(
        device: Bridge.Device(held.target), values: reading.values.map { Bridge.MeasuredValue($0) })
    } catch {
      // One that tells values of its own accord needn't be one that can be asked.
      guard error.accessoryError.kind == .unsupported, let held = try? find(call.device), let values = held.values
      else {
        throw error
      }
      return remembered(values, of: held)
    }
  }

  /// What was last heard, with its age.
  private func remembered(_ values: ValuesReading, of attachment: Attachment) -> Bridge.GetValues.Reply {
    Bridge.GetValues.Reply(
      device: Bridge.Device(attachment.target), values: values.entries.map { measured($0, attachment) })
  }

  private func measured(_ entry: ValuesReading.Entry, _ attachment: Attachment) -> Bridge.MeasuredValue {
    var value = Bridge.MeasuredValue(
      entry.value, age_ms: Attachment.milliseconds(entry.age(clock.bootTime)))
    value.stale = isStale(.values, entry.time, attachment)
    return value
  }

  /// Keeps what it was asked for, which is all that there is; what is not as it was is told.
  private func note(answered values: [AccessoryValue], _ attachment: Attachment) -> ValuesReading {
    let reading = ValuesReading(values, at: clock.bootTime)
    let old = attachment.values
    attachment.values = reading
    tell(valuesNamed: reading.values.filter { old?[$0.name]?.value != $0 }.map(\.name), attachment)
    return reading
  }

  /// Keeps what it has told of its own accord, beside what was known of others; all of it is told.
  func note(told values: [AccessoryValue], _ attachment: Attachment) {
    var reading = attachment.values ?? ValuesReading()
    reading.take(values, at: clock.bootTime)
    attachment.values = reading
    let names = Set(ValuesReading(values, at: clock.bootTime).values.map(\.name))
    tell(valuesNamed: names.filter { reading[$0] != nil }, attachment)
  }

  /// Keeps what it was polled for, beside what was known of others; what is not as it was is told.
  func note(polled values: [AccessoryValue], _ attachment: Attachment) {
    var reading = attachment.values ?? ValuesReading()
    let changed = reading.take(values, at: clock.bootTime)
    attachment.values = reading
    tell(valuesNamed: changed.map(\.name), attachment)
  }

  /// Tells subscribers of these values, now or when it is time.
  private func tell(valuesNamed names: some Sequence<String>, _ attachment: Attachment) {
    guard events.wantsValues else { return }
    attachment.valueNews.add(names, now: clock.now)
    tellValues(attachment)
  }

  private func tellValues(_ attachment: Attachment) {
    let entries = attachment.valueNews.take(of: attachment.values, now: clock.now)
    if !entries.isEmpty { tell(.values, attachment, values: entries.map { measured($0, attachment) }) }
    guard let deadline = attachment.valueNews.deadline, attachment.valuesTimer == nil else { return }
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.valuesTimer = clock.schedule(at: deadline) { [weak self] in
      self?.post { service in
        guard let attachment = service.attachments[key], attachment.generation == generation else { return }
        attachment.valuesTimer = nil
        service.tellValues(attachment)
      }
    }
  }
}
