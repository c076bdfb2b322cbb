// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What people have been told, and what waits to be sent. It has no clock: its owner passes the time in seconds since 1970. It is kept
/// on disk, so a restart neither loses nor repeats a message.
///
/// Of each alarm at most one message waits for each way: what happens meanwhile is merged into it. Accessories take turns, and what they
/// say again and again is told at a pace (`MessagePace`).
package struct MessageBook: Codable, Sendable, Hashable {
  /// A raised alarm that people were told of.
  struct Told: Codable, Sendable, Hashable {
    var service, accessory: String
    var message: AlarmMessage
    /// The ways, with the time of the last message.
    var ways: [String: Double]
    /// Since when the service doesn't say that it is raised; nil while it does.
    var missingSince: Double?
  }

  /// The failures of a way since its last success, and the time of the next try.
  struct Failures: Codable, Sendable, Hashable {
    var count: Int
    var next: Double
  }

  private(set) var told: [Told] = []
  private(set) var all: [WaitingMessage] = []
  private(set) var failures: [String: Failures] = [:]
  private(set) var paces: [MessagePace] = []
  private var lastNumber = 0
  /// The messages that are being sent, by their ways.
  private var sending: [String: Int] = [:]
  private var dropped = 0

  /// The most messages that wait for a way, and the most alarms that are known. Beyond it those of the accessory with most are dropped.
  package static let (waitingLimit, toldLimit) = (256, 4_096)
  /// A message that has waited longer than this is dropped: three days, in seconds.
  package static let patience = 259_200.0
  /// How long a service that has started again has to raise an alarm again, in seconds. Then the alarm is over.
  static let grace = 900.0
  /// The pauses after failures, in seconds.
  static let pauses = [10.0, 30, 60, 120, 300, 600, 900]

  package init() {}

  /// The messages that wait to be sent.
  package var waiting: [WaitingMessage] { all.filter(\.hasNews) }

  // MARK: - Alarms

  /// An alarm was raised, or is raised already. Nothing is told again. `ways` are the names of those that tell of it. Returns whether it
  /// is news for the log: a message was added, and not only merged into one, or the service says it for the first time since it began.
  @discardableResult
  package mutating func raise(
    _ alarm: AccessoryAlarm, accessory: String, name: String, service: String, ways: [String], at now: Double
  ) -> Bool {
    let message = AlarmMessage(.raised, accessory: accessory, name: name, alarm: alarm, time: now)
    if let index = index(alarm, accessory, service) {
      told[index].message.alarm = alarm
      defer { told[index].missingSince = nil }
      return told[index].missingSince != nil
    }
    if told.count >= Self.toldLimit,
      let index = FairQueue<[String], Told>.oldestOfMost(told.map { [$0.service, $0.accessory] })
    {
      told.remove(at: index)
    }
    told.append(
      Told(
        service: service, accessory: accessory, message: message,
        ways: Dictionary(ways.map { ($0, now) }) { first, _ in first }))
    return add(message, ways, service)
  }

  /// An alarm was cleared. Nothing is told of one that nobody was told of. Returns what `raise` does.
  @discardableResult
  package mutating func clear(_ alarm: AccessoryAlarm, accessory: String, service: String, at now: Double) -> Bool {
    guard let index = index(alarm, accessory, service) else { return false }
    var over = told.remove(at: index)
    over.message.alarm = alarm
    return end(over, at: now)
  }

  @discardableResult
  private mutating func end(_ over: Told, at now: Double) -> Bool {
    var message = over.message
    (message.state, message.time) = (.cleared, now)
    return add(message, over.ways.keys.sorted(), over.service)
  }

  /// A service has begun to say which alarms are raised.
  package mutating func begin(service: String, at now: Double) {
    for index in told.indices where told[index].service == service && told[index].missingSince == nil {
      told[index].missingSince = now
    }
  }

  private func index(_ alarm: AccessoryAlarm, _ accessory: String, _ service: String) -> Int? {
    told.firstIndex {
      $0.accessory == accessory && $0.message.alarm.name == alarm.name && $0.service == service
    }
  }

  /// Adds what is due: repetitions, and the end of alarms that a service hasn't raised again. `ways` are those of the configuration.
  package mutating func timePassed(_ now: Double, ways: [MessageWay]) {
    for over in told.filter({ $0.missingSince.map { now - $0 >= Self.grace } ?? false }) {
      told.removeAll { $0 == over }
      end(over, at: now)
    }
    for way in ways {
      guard let pause = way.repetition.map({ Double($0.inNanoseconds) / 1e9 }) else { continue }
      for index in told.indices where told[index].missingSince == nil {
        guard let last = told[index].ways[way.name] else { continue }
        // The clock may have been set back.
        guard now - last >= pause || last > now else { continue }
        told[index].ways[way.name] = now
        guard last <= now else { continue }
        var message = told[index].message
        (message.state, message.time) = (.still, now)
        _ = add(message, [way.name], told[index].service)
      }
    }
    paces.removeAll { $0.isOver(at: now) }
  }

  /// When `timePassed` or `next` has something to do; nil for never, unless something happens.
  package func deadline(ways: [MessageWay], at now: Double) -> Double? {
    var times = told.compactMap { $0.missingSince.map { $0 + Self.grace } }
    for way in ways {
      if let pause = way.repetition.map({ Double($0.inNanoseconds) / 1e9 }) {
        times += told.filter { $0.missingSince == nil }.compactMap { $0.ways[way.name].map { $0 + pause } }
      }
      let first = all.lazy.filter { $0.way == way.name && $0.hasNews }.map { dueTime($0, at: now) }.min()
      if let first { times.append(max(first, failures[way.name]?.next ?? 0)) }
    }
    return times.min()
  }

  // MARK: - Sending

  /// The number of messages that were dropped since the last call, because too many waited.
  package mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }

  private mutating func add(_ message: AlarmMessage, _ ways: [String], _ service: String) -> Bool {
    var isNew = false
    for way in ways {
      lastNumber &+= 1
      let new = WaitingMessage(number: lastNumber, way: way, message: message, service: service)
      if let index = all.firstIndex(where: { $0.isSameAlarm(new) && $0.number != sending[way] }) {
        all[index].merge(new)
      } else {
        isNew = true
        all.append(new)
        bound(way)
      }
    }
    return isNew
  }

  /// Drops what is too much of a way: what has nothing to tell, otherwise the oldest of the accessory with most.
  private mutating func bound(_ way: String) {
    let its = all.indices.filter { all[$0].way == way && all[$0].number != sending[way] }
    guard its.count > Self.waitingLimit else { return }
    if let index = its.first(where: { !all[$0].hasNews }) {
      all.remove(at: index)
    } else if let place = FairQueue<[String], WaitingMessage>.oldestOfMost(its.map { all[$0].place }) {
      all.remove(at: its[place])
      dropped += 1
    }
  }

  private func pace(_ place: [String], _ way: String) -> Int? {
    paces.firstIndex { $0.way == way && $0.place == place }
  }

  /// When the pace of its accessory lets a message be sent.
  private func dueTime(_ message: WaitingMessage, at now: Double) -> Double {
    pace(message.place, message.way).map { paces[$0].dueTime(message.message, at: now) } ?? 0
  }

  /// The next message of a way, which is then being sent; nil if there is none, or if those that there are have to wait. The first word
  /// about an alarm comes first, and otherwise the accessories take turns.
  package mutating func next(of way: String, at now: Double) -> WaitingMessage? {
    let old = waiting.count
    all.removeAll { now - $0.message.time > ($0.hasNews ? Self.patience : MessagePace.window) }
    dropped += old - waiting.count
    if let failed = failures[way], failed.next > now, failed.next - now <= Self.pauses[Self.pauses.count - 1] {
      return nil
    }
    let due = all.filter { $0.way == way && $0.hasNews && dueTime($0, at: now) <= now }
    let turns = due.map { one in
      let pace = pace(one.place, way).map { paces[$0] }
      let isFirst = one.message.state == .raised && pace?.hasTold(one.message) != true
      return [isFirst ? 0 : 1, pace?.turn ?? 0, one.number]
    }
    guard let first = turns.indices.min(by: { turns[$0].lexicographicallyPrecedes(turns[$1]) }) else { return nil }
    var next = due[first]
    sending[way] = next.number
    next.message.isLimited = pace(next.place, way).map { paces[$0].isLast(next.message, at: now) } ?? false ? true : nil
    return next
  }

  /// The message was sent, or will never be: `isGivenUp`.
  package mutating func finished(_ sent: WaitingMessage, at now: Double, isGivenUp: Bool = false) {
    sending[sent.way] = nil
    all.removeAll { $0.number == sent.number }
    guard !isGivenUp else { return }
    failures[sent.way] = nil
    lastNumber &+= 1
    let index = pace(sent.place, sent.way) ?? paces.endIndex
    if index == paces.endIndex {
      if paces.count >= Self.toldLimit { paces.removeFirst() }
      paces.append(MessagePace(of: sent))
    }
    paces[min(index, paces.count - 1)].sent(sent.message, turn: lastNumber, at: now)
  }

  /// The message couldn't be sent. Returns the pause before the next try, in seconds.
  package mutating func failed(_ tried: WaitingMessage, at now: Double) -> Double {
    sending[tried.way] = nil
    mergeAll()
    let count = (failures[tried.way]?.count ?? 0) + 1
    let pause = Self.pauses[min(count, Self.pauses.count) - 1]
    failures[tried.way] = Failures(count: count, next: now + pause)
    return pause
  }

  /// Merges the messages of each alarm.
  private mutating func mergeAll() {
    var merged: [WaitingMessage] = []
    for one in all {
      if let index = merged.firstIndex(where: { $0.isSameAlarm(one) }) {
        merged[index].merge(one)
      } else {
        merged.append(one)
      }
    }
    all = merged
  }

  /// Whether a way has failed since its last success.
  package func isFailing(_ way: String) -> Bool { failures[way] != nil }

  /// To be called for a book that was read: forgets the ways that the configuration doesn't have any more.
  package mutating func keep(ways: [String]) {
    all.removeAll { !ways.contains($0.way) }
    mergeAll()
    paces.removeAll { !ways.contains($0.way) }
    failures = failures.filter { ways.contains($0.key) }
    for index in told.indices { told[index].ways = told[index].ways.filter { ways.contains($0.key) } }
  }
}

// MARK: - On disk

extension MessageBook {
  /// `waiting` and `dropped` are as the first version wrote them.
  private enum CodingKeys: String, CodingKey {
    case told, all = "waiting", failures, paces, lastNumber, dropped
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    told = try fields.decode([Told].self, forKey: .told)
    all = try fields.decode([WaitingMessage].self, forKey: .all)
    failures = try fields.decode([String: Failures].self, forKey: .failures)
    paces = try fields.decodeIfPresent([MessagePace].self, forKey: .paces) ?? []
    lastNumber = try fields.decode(Int.self, forKey: .lastNumber)
  }

  /// Whether a loss of power before the next save would lose a message, or repeat one.
  func isUnsaved(in saved: MessageBook?) -> Bool { all.map(\.number) != saved?.all.map(\.number) }

  /// The same as it is on disk: without what is being sent.
  var kept: MessageBook {
    var kept = self
    (kept.sending, kept.dropped) = ([:], 0)
    return kept
  }

  /// Whether a file can have been written by this program.
  var isSane: Bool {
    all.count <= Self.waitingLimit * 64 && told.count <= Self.toldLimit && paces.count <= Self.toldLimit
      && failures.values.allSatisfy { $0.next.isFinite && (0...1_000_000).contains($0.count) }
      && all.allSatisfy { $0.message.time.isFinite && $0.message.first?.isFinite ?? true }
      && told.allSatisfy { $0.ways.values.allSatisfy(\.isFinite) && $0.missingSince?.isFinite ?? true }
      && paces.allSatisfy(\.isSane)
  }
}
