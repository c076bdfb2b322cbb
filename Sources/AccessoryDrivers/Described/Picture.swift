// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// What is known of a described accessory: the last value of each name, when it came, and what follows from them.
struct Picture: Sendable {
  struct Entry: Sendable, Hashable {
    var value: DescribedValue
    var time: MonotonicTime
    var isPushed: Bool
  }

  let description: ProtocolDescription
  /// In the order in which they were first read; at most as many as the description has fields.
  private(set) var entries: [Entry] = []
  private var places: [String: Int] = [:]
  /// Values that were read, and can't be so: a battery that is 250 percent full.
  private(set) var impossibleValues: UInt64 = 0
  /// When a pushed message of each kind came last, and how long before that the one before it.
  private var arrivals: [Int: (time: MonotonicTime, period: Duration?)] = [:]

  init(_ description: ProtocolDescription) { self.description = description }

  /// Takes what a message says in the place of what was known. `isFirst` is false where somebody else has taken the
  /// message, too, or will: what makes no sense is counted once.
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

  /// How long what is pushed stays true: as the description says, or three times its period, and at least ten seconds.
  private var expiry: Duration {
    if let expiry = description.plan.expiry { return .nanoseconds(expiry) }
    let periods = arrivals.values.compactMap(\.period)
    return max(.seconds(10), (periods.max() ?? .zero) * 3)
  }

  /// What is known now: without what was pushed too long ago, with what follows from the rest.
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

  /// Whether something is known of these names.
  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    let (reported, derived) = values(now: now)
    return (reported + derived).contains { isWanted($0.name) && $0.value != .nothing && $0.value != .list([]) }
  }
}

/// A picture that several tasks share.
final class SharedPicture: Sendable {
  private let picture: Locked<Picture>

  init(_ description: ProtocolDescription) { picture = Locked(Picture(description)) }

  func take(_ message: DecodedMessage, at time: MonotonicTime, isFirst: Bool) {
    picture.withLock { $0.take(message, at: time, isFirst: isFirst) }
  }

  var impossibleValues: UInt64 { picture.withLock { $0.impossibleValues } }

  func values(now: MonotonicTime) -> (reported: [DescribedValue], derived: [DescribedValue]) {
    picture.withLock { $0.values(now: now) }
  }

  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    picture.withLock { $0.knows(isWanted, now: now) }
  }
}
