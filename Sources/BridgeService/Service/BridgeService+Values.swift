// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Calls for values, which are measurements other than status and battery.

extension BridgeService {
  package func values(_ call: Bridge.GetValues, from caller: Caller) async throws(CallError) -> Bridge.GetValues.Reply {
    let attachment = try find(call.device)
    if attachment.machine.state == .lent {
      guard let values = attachment.readings.values else { throw attachment.lending.refusal(attachment) }
      return remembered(values, of: attachment)
    }
    do throws(CallError) {
      let (held, (values, missing)) = try await work(call.device) { _, accessory throws(AccessoryError) in
        (try await accessory.values(), accessory.missing)
      }
      note(values, .asked, held)
      return Bridge.GetValues.Reply(
        device: Bridge.Device(held.target),
        values: (held.readings.values?.values ?? []).map { Read($0) }, missing: missing)
    } catch {
      // An accessory that reports values by itself may have no request for them: the last values are returned.
      guard error.accessoryError.kind == .unsupported, let held = try? find(call.device),
        let values = held.readings.values
      else {
        throw error
      }
      return remembered(values, of: held)
    }
  }

  /// The last values with their ages.
  private func remembered(_ values: ValuesReading, of attachment: Attachment) -> Bridge.GetValues.Reply {
    Bridge.GetValues.Reply(
      device: Bridge.Device(attachment.target), values: values.entries.map { measured($0, attachment) })
  }

  private func measured(_ entry: ValuesReading.Entry, _ attachment: Attachment) -> Read<AccessoryValue> {
    Read(entry.value, age: entry.age(clock.bootTime), isStale: isStale(.values, entry.time, attachment) == true)
  }

  /// Stores values, and reports changed ones to subscribers, now or when the next report is due.
  func note(_ values: [AccessoryValue], _ origin: Readings.Origin, _ attachment: Attachment) {
    let names = attachment.readings.note(values, origin, at: clock.bootTime)
    history.record(values, of: attachment, on: self)
    alarms.judge(attachment, on: self)
    guard clients.events.wantsValues else { return }
    attachment.readings.tell(names, now: clock.now)
    tellValues(attachment)
  }

  private func tellValues(_ attachment: Attachment) {
    let entries = attachment.readings.takeNews(now: clock.now)
    if !entries.isEmpty {
      var values: [Read<AccessoryValue>] = []
      for entry in entries { values.append(measured(entry, attachment)) }
      tell(.values, attachment, values: values)
    }
    guard let deadline = attachment.readings.newsDeadline, attachment.contact.valuesTimer.deadline == nil else {
      return
    }
    let (key, generation) = (attachment.key, attachment.generation)
    attachment.contact.valuesTimer.set(deadline, on: clock) { [weak self] in
      self?.post { service in
        guard let attachment = service.attachments[key], attachment.generation == generation else { return }
        attachment.contact.valuesTimer.ended()
        service.tellValues(attachment)
      }
    }
  }
}
