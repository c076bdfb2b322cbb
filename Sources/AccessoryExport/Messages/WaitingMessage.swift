// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A message that waits for its way, with all that has happened to the same alarm since it began to wait.
package struct WaitingMessage: Codable, Sendable, Hashable {
  package private(set) var number: Int
  package private(set) var way: String
  package var message: AlarmMessage
  /// The service of the accessory; nil in a file of the first version.
  private var service: String?
  /// Whether the last word by this way was that the alarm is raised; nil in a file of the first version.
  private var isKnown: Bool?

  /// An alarm that is over and raised again so often is told to flap.
  private static let flaps = 3

  init(number: Int, way: String, message: AlarmMessage, service: String) {
    (self.number, self.way, self.message, self.service) = (number, way, message, service)
    isKnown = message.state != .raised
  }

  var place: [String] { [service ?? "", message.accessory] }

  func isSameAlarm(_ other: WaitingMessage) -> Bool {
    way == other.way && message.accessory == other.message.accessory && message.alarm.name == other.message.alarm.name
      && (service == other.service || service == nil || other.service == nil)
  }

  /// How often the alarm was raised since the last message.
  private var times: Int { message.times ?? (message.state == .raised ? 1 : 0) }

  /// False if all that has happened cancels out: people know that the alarm is raised, and it is.
  package var hasNews: Bool { message.state != .raised || isKnown != true || times >= Self.flaps }

  /// Adds what has happened next.
  mutating func merge(_ next: WaitingMessage) {
    let wasKnown = isKnown ?? (message.state != .raised)
    let (first, count) = (message.first ?? message.time, times + next.times)
    let state = message.state
    message = next.message
    if next.message.state == .still, state == .raised, !wasKnown { message.state = .raised }
    (message.times, message.first, isKnown) = (count, first, wasKnown)
    service = service ?? next.service
  }
}

/// How often people hear of one accessory by one way. The first time that an alarm is raised, and is over, is always told; so is a
/// repetition that the configuration asks for. More takes its turn.
struct MessagePace: Codable, Sendable, Hashable {
  let way: String
  let place: [String]
  /// The number of the last message: the accessory with the smallest one is next.
  private(set) var turn = 0
  private var tokens: Double
  private var time: Double
  /// What was told of which alarm.
  private var told: Set<String> = []

  /// How many more are told at once, and the pause between later ones, in seconds.
  static let (atOnce, pause) = (6, 300.0)
  /// When an accessory has been quiet for so long, all starts anew, in seconds.
  static let window = 1_800.0
  /// Of each alarm that an accessory can have, that it was raised and that it is over.
  private static let toldLimit = 2 * AlarmRule.countLimit

  init(of message: WaitingMessage) {
    (way, place) = (message.way, message.place)
    (tokens, time) = (Double(Self.atOnce), message.message.time)
  }

  private var limit: RateLimit { RateLimit(atOnce: Self.atOnce, perSecond: 1 / Self.pause, tokens, time) }

  private static func word(_ message: AlarmMessage) -> String { "\(message.state.rawValue) \(message.alarm.name)" }

  /// Whether this was told of the alarm.
  func hasTold(_ message: AlarmMessage) -> Bool { told.contains(Self.word(message)) }

  private func isFree(_ message: AlarmMessage) -> Bool {
    message.state == .still || !hasTold(message) && told.count < Self.toldLimit
  }

  func dueTime(_ message: AlarmMessage, at now: Double) -> Double { isFree(message) ? 0 : limit.next(after: now) }

  /// Whether later ones have to wait after this one.
  func isLast(_ message: AlarmMessage, at now: Double) -> Bool { !isFree(message) && limit.tokens(at: now) < 2 }

  mutating func sent(_ message: AlarmMessage, turn: Int, at now: Double) {
    self.turn = turn
    var limit = limit
    if !isFree(message) { _ = limit.admit(at: now) }
    (tokens, time) = (limit.tokens(at: now), now)
    if told.count < Self.toldLimit { told.insert(Self.word(message)) }
  }

  func isOver(at now: Double) -> Bool { now - time > Self.window || time > now + Self.window }

  var isSane: Bool {
    time.isFinite && tokens.isFinite && (0...Double(Self.atOnce)).contains(tokens) && place.count == 2
      && told.count <= Self.toldLimit
  }
}
