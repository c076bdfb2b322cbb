// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

/// The state of a described accessory: the latest value of each field with its time, and the values derived from them.
struct LatestValues: Sendable {
  struct Entry: Sendable, Hashable {
    var value: DescribedValue
    var time: MonotonicTime
    var isPushed: Bool
    /// The request that it answers; nil for a pushed value.
    var request: Int?
    /// Its place among the others: that of the first message that has it; see `ranks`.
    var rank: Int
    /// Whether it has expired and was told so.
    var isToldExpired = false
  }

  let description: ProtocolDescription
  /// The accessory's name in errors.
  let label: String
  /// By rank, so that people see the same order each time. Bounded by the number of fields in the description.
  private(set) var entries: [Entry] = []
  private var places: [String: Int] = [:]
  /// How many values were decoded but are impossible, such as a charge of 250 percent.
  private(set) var impossibleValues: UInt64 = 0
  /// The numbers in the last message of each kind that can't be, for people; a message without such numbers has none here.
  private var implausible: [Int: [String]] = [:]
  /// The error for the last message, where it made no sense as a whole.
  private(set) var disbelief: AccessoryError?
  /// When the last pushed message of each kind arrived, and how long after the one before it.
  private var arrivals: [Int: (time: MonotonicTime, period: Duration?)] = [:]
  /// The parts of the accessory's state that each message reports, and the time of the last report of each part.
  private let partsOfMessages: [Set<AccessoryPoll.Part>]
  /// The places of messages: the replies to requests in the order in which the plan begins and reads, then those to other requests, then
  /// what the accessory sends by itself. So the order doesn't depend on what was asked or came first.
  private let ranks: [Int]
  private(set) var toldTimes: [AccessoryPoll.Part: MonotonicTime] = [:]
  /// When the last round of pushed messages began, and when the last whole one ended.
  private var round: (began: MonotonicTime?, ended: MonotonicTime?) = (nil, nil)

  init(_ description: ProtocolDescription, label: String = "the accessory") {
    (self.description, self.label) = (description, label)
    partsOfMessages = description.partsOfMessages
    ranks = description.ranksOfMessages
  }

  /// What can't be in the last messages, so that it is unknown: a sentence without its period; nil where there is nothing.
  var implausibleNumbers: String? {
    let all = implausible.sorted { $0.key < $1.key }.flatMap(\.value)
    return all.isEmpty ? nil : "what can't be is unknown: \(all.joined(separator: ", "))"
  }

  /// Stores the values of a message, unless it makes no sense as a whole. `request` is what it answers; nil for a pushed one.
  mutating func take(_ message: DecodedMessage, at time: MonotonicTime, request: Int? = nil) {
    impossibleValues &+= UInt64(message.impossibleValues)
    disbelief = message.plausibility.disbelief(
      in: "the message \(description.messages[message.message].name) of \(label), read as \(description.name),")
    guard disbelief == nil else { return }
    implausible[message.message] = message.plausibility.implausible
    let isPushed = description.messages[message.message].isPushed
    for part in partsOfMessages[message.message] { toldTimes[part] = time }
    for value in message.values {
      var entry = Entry(
        value: value, time: time, isPushed: isPushed, request: request, rank: ranks[message.message])
      let place = places[value.name]
      if let place, entries[place].rank <= entry.rank {
        entry.rank = entries[place].rank
        entries[place] = entry
      } else {
        insert(entry, inPlaceOf: place)
      }
    }
    guard isPushed else { return }
    arrivals[message.message] = (time, arrivals[message.message].map { time - $0.time })
    if let first = description.plan.round, message.values.contains(where: { $0.name == first }) {
      if round.began != nil { round.ended = time }
      round.began = time
    }
  }

  /// Adds a value after those of its rank. One that a message of a later place has brought before leaves that place.
  private mutating func insert(_ entry: Entry, inPlaceOf old: Int?) {
    if let old { entries.remove(at: old) }
    let place = entries.lastIndex { $0.rank <= entry.rank }.map { $0 + 1 } ?? 0
    entries.insert(entry, at: place)
    for index in place..<entries.count { places[entries[index].value.name] = index }
  }

  /// The values of the replies to a request become unknown, because it isn't answered any more. Their parts of the state
  /// then have no time of their own.
  mutating func lose(_ request: Int) {
    for index in entries.indices where entries[index].request == request { entries[index].value.forget() }
    guard let reply = description.requests[request].reply else { return }
    for part in partsOfMessages[reply] { toldTimes[part] = nil }
  }

  /// The values of the replies to these requests.
  func values(of requests: [Int]) -> [DescribedValue] {
    entries.filter { $0.request.map(requests.contains) ?? false }.map(\.value)
  }

  /// Whether the accessory has sent something by itself, not too long ago.
  func isTelling(now: MonotonicTime) -> Bool {
    let expiry = expiry
    return entries.contains { $0.isPushed && now - $0.time <= expiry }
  }

  /// The pushed values that have expired since the last call. They are unknown.
  mutating func takeExpired(now: MonotonicTime) -> [DescribedValue] {
    let expiry = expiry
    var expired: [DescribedValue] = []
    for index in entries.indices {
      let entry = entries[index]
      guard entry.isPushed, !entry.isToldExpired, now - entry.time > expiry else { continue }
      entries[index].isToldExpired = true
      expired.append(entry.value)
      expired[expired.count - 1].forget()
    }
    return expired
  }

  /// Whether the accessory has sent a whole round of its messages, and not too long ago. Always true where the
  /// description says nothing of rounds.
  func hasWholeRound(now: MonotonicTime) -> Bool {
    guard description.plan.round != nil else { return true }
    return round.ended.map { now - $0 <= expiry } ?? false
  }

  /// Whether a round has begun, so that only its end is missing.
  var hasBegunRound: Bool { round.began != nil }

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
    var raws: [String: Int] = [:]
    let reported = entries.map { entry in
      var value = entry.value
      if entry.isPushed, now - entry.time > expiry { value.value = .nothing }
      current[value.name] = value.value
      raws[value.name] = value.raw
      return value
    }
    return (reported, description.derivedValues(from: { current[$0] }, raw: { raws[$0] }))
  }

  /// Whether a value with a wanted name is known.
  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    let (reported, derived) = values(now: now)
    return (reported + derived).contains { isWanted($0.name) && $0.value != .nothing && $0.value != .list([]) }
  }
}

/// A message that the accessory has sent by itself, with all values as they were then: a consumer may be late.
struct ToldMessage: Sendable {
  let message: DecodedMessage
  let values: LatestValues
  let time: MonotonicTime
}

/// A `LatestValues` behind a lock, with the tasks that wait for its next change.
final class SharedLatestValues: Sendable {
  private struct State: Sendable {
    var latest: LatestValues
    var failure: AccessoryError?
  }

  private let state: Locked<State>
  private let news = EventHub<Void>(limit: 1)

  init(_ description: ProtocolDescription, label: String) {
    state = Locked(State(latest: LatestValues(description, label: label)))
  }

  /// Stores the values of a message, and wakes waiting tasks. Returns all values then, or the error where the message makes no sense as
  /// a whole: then nothing is stored.
  @discardableResult
  func take(
    _ message: DecodedMessage, at time: MonotonicTime, request: Int? = nil
  ) -> Result<LatestValues, AccessoryError> {
    let latest = state.withLock { state in
      state.latest.take(message, at: time, request: request)
      return state.latest
    }
    news.send(())
    return latest.disbelief.map { .failure($0) } ?? .success(latest)
  }

  /// Ends the streams of changes, since no messages come any more; `failure` is the link's error, nil when it was closed.
  func end(_ failure: AccessoryError?) {
    state.withLock { $0.failure = failure }
    news.finish(nil)
  }

  /// The error with which the link has ended; nil where it hasn't.
  var failure: AccessoryError? { state.withLock { $0.failure } }

  /// An element for every message from now on, or for several that came together. Ends when no more come.
  func changes() -> EventStream<Void> { news.stream() }

  func lose(_ request: Int) { state.withLock { $0.latest.lose(request) } }
  func values(of requests: [Int]) -> [DescribedValue] { state.withLock { $0.latest.values(of: requests) } }
  func isTelling(now: MonotonicTime) -> Bool { state.withLock { $0.latest.isTelling(now: now) } }
  func takeExpired(now: MonotonicTime) -> [DescribedValue] { state.withLock { $0.latest.takeExpired(now: now) } }

  var impossibleValues: UInt64 { state.withLock { $0.latest.impossibleValues } }
  var implausibleNumbers: String? { state.withLock { $0.latest.implausibleNumbers } }
  /// The error for the last message, where it made no sense as a whole.
  var disbelief: AccessoryError? { state.withLock { $0.latest.disbelief } }

  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? { state.withLock { $0.latest.toldTimes[part] } }

  func values(now: MonotonicTime) -> (reported: [DescribedValue], derived: [DescribedValue]) {
    state.withLock { $0.latest.values(now: now) }
  }

  func knows(_ isWanted: (String) -> Bool, now: MonotonicTime) -> Bool {
    state.withLock { $0.latest.knows(isWanted, now: now) }
  }

  func hasWholeRound(now: MonotonicTime) -> Bool { state.withLock { $0.latest.hasWholeRound(now: now) } }
  var hasBegunRound: Bool { state.withLock { $0.latest.hasBegunRound } }
}

extension ProtocolDescription {
  fileprivate var ranksOfMessages: [Int] {
    let start = plan.start.compactMap { if case .request(let request, _) = $0 { request } else { nil } }
    let order = start + (plan.identify.map { [$0] } ?? []) + plan.identifyOtherwise + plannedRequests + requests.indices
    return messages.indices.map { message in
      let asked = messages[message].isPushed ? nil : order.firstIndex { requests[$0].reply == message }
      return asked ?? order.count + message
    }
  }
}

extension DescribedValue {
  /// The value becomes unknown.
  fileprivate mutating func forget() { (value, raw) = (.nothing, nil) }
}
