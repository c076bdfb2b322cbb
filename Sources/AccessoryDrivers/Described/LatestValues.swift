// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The state of a described accessory: the latest value of each field with its time, and the values derived from them.
struct LatestValues: Sendable {
  struct Entry: Sendable, Hashable {
    var value: DescribedValue
    var time: MonotonicTime
    var isPushed: Bool
  }

  let description: ProtocolDescription
  /// In the order of their first arrival. Bounded by the number of fields in the description.
  private(set) var entries: [Entry] = []
  private var places: [String: Int] = [:]
  /// How many values were decoded but are impossible, such as a charge of 250 percent.
  private(set) var impossibleValues: UInt64 = 0
  /// When the last pushed message of each kind arrived, and how long after the one before it.
  private var arrivals: [Int: (time: MonotonicTime, period: Duration?)] = [:]

  init(_ description: ProtocolDescription) { self.description = description }

  /// Stores the values of a message. `isFirst` is false when another caller counts the message's impossible values, so
  /// that they are counted only once.
  mutating func take(_ message: DecodedMessage, at time: MonotonicTime, isFirst: Bool) {
    if isFirst { impossibleValues &+= UInt64(message.impossibleValues) }
    let isPushed = description.messages[message.message].isPushed
    for value in message.values {
      let entry = Entry(value: value, time: time, isPushed: isPushed)
      if let place = places[value.name] {
        entries[place] = entry
      } else {
        places[value.name] = entries.count
        entries.append(entry)
      }
    }
    if isPushed { arrivals[message.message] = (time, arrivals[message.message].map { time - $0.time }) }
  }

  /// How long pushed values stay valid: the description's `expiry`, or else three periods of the slowest message, but
  /// at least ten seconds.
  private var expiry: Duration {
    if let expiry = description.plan.expiry { return .nanoseconds(expiry) }
    let periods = arrivals.values.compactMap(\.period)
    return max(.seconds(10), (periods.max() ?? .zero) * 3)
  }

  /// The current values. Pushed values that have expired are unknown.
  func values(now: MonotonicTime) -> (reported: [DescribedValue], derived: [DescribedValue]) {
    let expiry = expiry
    var current: [String: PlainValue] = [:]
    let reported = entries.map { entry in
      var value = entry.value
      if entry.isPushed, now - entry.time > expiry { value.value = .nothing }
      current[value.name] = value.value
      return value
    }
    return (reported, description.derivedValues { current[$0] })
  }

  /// Whether a value with a wanted name is known.
  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    let (reported, derived) = values(now: now)
    return (reported + derived).contains { isWanted($0.name) && $0.value != .nothing && $0.value != .list([]) }
  }
}

/// A `LatestValues` behind a lock.
final class SharedLatestValues: Sendable {
  private let latestValues: Locked<LatestValues>

  init(_ description: ProtocolDescription) { latestValues = Locked(LatestValues(description)) }

  func take(_ message: DecodedMessage, at time: MonotonicTime, isFirst: Bool) {
    latestValues.withLock { $0.take(message, at: time, isFirst: isFirst) }
  }

  var impossibleValues: UInt64 { latestValues.withLock { $0.impossibleValues } }

  func values(now: MonotonicTime) -> (reported: [DescribedValue], derived: [DescribedValue]) {
    latestValues.withLock { $0.values(now: now) }
  }

  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    latestValues.withLock { $0.knows(isWanted, now: now) }
  }
}
