// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What people have been told, and what waits to be sent. It has no clock: its owner passes the time in seconds since 1970. It is kept
/// on disk, so a restart neither loses nor repeats a message.
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

  /// A message that waits for its way.
  package struct Waiting: Codable, Sendable, Hashable {
    package var number: Int
    package var way: String
    package var message: AlarmMessage
  }

  /// The failures of a way since its last success, and the time of the next try.
  struct Failures: Codable, Sendable, Hashable {
    var count: Int
    var next: Double
  }

  private(set) var told: [Told] = []
  package private(set) var waiting: [Waiting] = []
  private(set) var failures: [String: Failures] = [:]
  private var lastNumber = 0

  /// The most messages that wait, and the most alarms that are known. Beyond it the oldest are dropped.
  package static let (waitingLimit, toldLimit) = (256, 4_096)
  /// A message that has waited longer than this is dropped: three days, in seconds.
  package static let patience = 259_200.0
  /// How long a service that has started again has to raise an alarm again, in seconds. Then the alarm is over.
  static let grace = 900.0
  /// The pauses after failures, in seconds.
  static let pauses = [10.0, 30, 60, 120, 300, 600, 900]

  package init() {}

  // MARK: - Alarms

  /// An alarm was raised, or is raised already. Nothing is told again. `ways` are the names of those that tell of it.
  package mutating func raise(
    _ alarm: AccessoryAlarm, accessory: String, name: String, service: String, ways: [String], at now: Double
  ) {
    let message = AlarmMessage(.raised, accessory: accessory, name: name, alarm: alarm, time: now)
    if let index = index(alarm, accessory, service) {
      told[index].message.alarm = alarm
      told[index].missingSince = nil
      return
    }
    if told.count >= Self.toldLimit { told.removeFirst() }
    told.append(
      Told(
        service: service, accessory: accessory, message: message,
        ways: Dictionary(ways.map { ($0, now) }) { first, _ in first }))
    for way in ways { add(message, way) }
  }

  /// An alarm was cleared. Nothing is told of one that nobody was told of.
  package mutating func clear(_ alarm: AccessoryAlarm, accessory: String, service: String, at now: Double) {
    guard let index = index(alarm, accessory, service) else { return }
    var over = told.remove(at: index)
    over.message.alarm = alarm
    end(over, at: now)
  }

  private mutating func end(_ over: Told, at now: Double) {
    var message = over.message
    (message.state, message.time) = (.cleared, now)
    for way in over.ways.keys.sorted() { add(message, way) }
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
        // While the way fails, one repetition is enough.
        waiting.removeAll { $0.way == way.name && $0.message.state == .still && $0.message.isSameAlarm(message) }
        add(message, way.name)
      }
    }
  }

  /// When `timePassed` or `next` has something to do; nil for never, unless something happens.
  package func deadline(ways: [MessageWay]) -> Double? {
    var times = told.compactMap { $0.missingSince.map { $0 + Self.grace } }
    for way in ways {
      if let pause = way.repetition.map({ Double($0.inNanoseconds) / 1e9 }) {
        times += told.filter { $0.missingSince == nil }.compactMap { $0.ways[way.name].map { $0 + pause } }
      }
      if waiting.contains(where: { $0.way == way.name }) { times.append(failures[way.name]?.next ?? 0) }
    }
    return times.min()
  }

  // MARK: - Sending

  /// The number of messages that were dropped since the last call, because too many waited.
  package mutating func takeDropped() -> Int {
    defer { dropped = 0 }
    return dropped
  }
  private var dropped = 0

  private mutating func add(_ message: AlarmMessage, _ way: String) {
    lastNumber &+= 1
    waiting.append(Waiting(number: lastNumber, way: way, message: message))
    while waiting.count > Self.waitingLimit {
      waiting.removeFirst()
      dropped += 1
    }
  }

  /// The next message of a way; nil if there is none, or the way waits after a failure.
  package mutating func next(of way: String, at now: Double) -> Waiting? {
    let old = waiting.count
    waiting.removeAll { now - $0.message.time > Self.patience }
    dropped += old - waiting.count
    if let failed = failures[way], failed.next > now, failed.next - now <= Self.pauses[Self.pauses.count - 1] {
      return nil
    }
    return waiting.first { $0.way == way }
  }

  /// The message was sent, or will never be: `isGivenUp`.
  package mutating func finished(_ sent: Waiting, isGivenUp: Bool = false) {
    waiting.removeAll { $0.number == sent.number }
    if !isGivenUp { failures[sent.way] = nil }
  }

  /// The message couldn't be sent. Returns the pause before the next try, in seconds.
  package mutating func failed(_ tried: Waiting, at now: Double) -> Double {
    let count = (failures[tried.way]?.count ?? 0) + 1
    let pause = Self.pauses[min(count, Self.pauses.count) - 1]
    failures[tried.way] = Failures(count: count, next: now + pause)
    return pause
  }

  /// Whether a way has failed since its last success.
  package func isFailing(_ way: String) -> Bool { failures[way] != nil }

  /// Forgets the ways that the configuration doesn't have any more.
  package mutating func keep(ways: [String]) {
    waiting.removeAll { !ways.contains($0.way) }
    failures = failures.filter { ways.contains($0.key) }
    for index in told.indices { told[index].ways = told[index].ways.filter { ways.contains($0.key) } }
  }
}

extension AlarmMessage {
  /// Whether both are about the same alarm of the same accessory.
  func isSameAlarm(_ other: AlarmMessage) -> Bool { accessory == other.accessory && alarm.name == other.alarm.name }
}
