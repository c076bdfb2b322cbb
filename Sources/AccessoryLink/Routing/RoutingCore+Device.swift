// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Bytes and frames from the accessory.
extension RoutingCore {
  mutating func receive(
    _ bytes: [UInt8], messages: [Int]?, now: MonotonicTime, effects: inout RoutingEffects
  ) {
    if let messages {
      var start = 0
      for count in messages {
        family.rules.decode(message: bytes.span.bytes.extracting(start..<(start + count)), into: &batch)
        start += count
      }
    } else {
      family.rules.codec.decode(bytes.span.bytes, into: &batch)
    }
    silence = family.rules.codec.hasUnfinishedFrame ? now + timing.silence : nil
    deliver(now: now, effects: &effects)
    proceed(now: now, effects: &effects)
  }

  mutating func timePassed(now: MonotonicTime, effects: inout RoutingEffects) {
    if let silence, silence <= now {
      self.silence = nil
      family.rules.codec.idle(into: &batch)
      deliver(now: now, effects: &effects)
    }
    family.expire(now: now, into: &batch)
    deliver(now: now, effects: &effects)
    drive(now: now, &effects) { $0.timePassed(now: now, effects: &$1) }
    lookAtUnfinished(now: now, effects: &effects)
    proceed(now: now, effects: &effects)
  }

  private mutating func deliver(now: MonotonicTime, effects: inout RoutingEffects) {
    guard !batch.isEmpty else { return }
    var found = Batch()
    swap(&found, &batch)
    for index in 0..<found.count { route(found, at: index, now: now, effects: &effects) }
    found.removeAll()
    swap(&found, &batch)
  }

  /// Sends a frame to the client that made the request, or to all clients if it is an event.
  private mutating func route(_ found: Batch, at index: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    let before = family.rules.counters
    let asking = flights.count == 1 ? flights.first?.value : nil
    let place = effects.deliveries.count
    let isEvent = drive(now: now, frame: (found, index), &effects) {
      $0.receive(found, at: index, now: now, effects: &$1)
    }
    guard found.outcome(at: index) == .whole else { return }
    if isEvent {
      statistics.events += 1
      // The event goes before a reply that was completed by the same call.
      if let bytes = encoded(found, at: index) { effects.deliveries.insert((nil, bytes), at: place) }
    } else if let asking, let client = asking.client, clients[client] != nil,
      let part = family.part(found, at: index, of: asking, since: before)
    {
      effects.deliveries.insert((client, part), at: place)
    }
  }

  private func encoded(_ found: Batch, at index: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    let payload = found.payloadStore.span.bytes.extracting(found.payloadRange(at: index))
    do throws(FrameEncodingError) {
      try family.rules.codec.encode(found.header(at: index), payload: payload, into: &bytes)
      return bytes
    } catch {
      return nil
    }
  }
}
