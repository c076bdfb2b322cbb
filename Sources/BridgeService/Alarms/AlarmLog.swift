// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The log's lines about alarms, at a pace: of an alarm that comes and goes all the time there are some lines at once, and then one each
/// minute that says how often it came. It has no clock: its owner passes the times.
struct AlarmLog: Sendable {
  /// A line for the log.
  struct Line: Sendable, Hashable {
    var text: String
    var isRaised: Bool
  }

  private struct Entry: Sendable {
    var limit = RateLimit(atOnce: 8, perSecond: 1.0 / 60)
    /// The last change that has no line yet, and how often the alarm was raised since the last line.
    var last: AlarmBook.News?
    var count = 0
  }

  private var entries: [String: Entry] = [:]
  /// The most alarms whose lines are counted; those of others have no limit.
  private static let limit = 4_096

  /// When to call `timePassed`; nil while each change has a line.
  private(set) var deadline: MonotonicTime?

  /// Takes a change; returns its line, unless it has to wait.
  mutating func take(_ news: AlarmBook.News, now: MonotonicTime) -> Line? {
    let key = news.device.id + "\n" + news.news.alarm.rule.name
    if entries.count >= Self.limit { entries = entries.filter { $0.value.last != nil } }
    guard entries.count < Self.limit || entries[key] != nil else { return Self.line(news, count: 0) }
    entries[key, default: Entry()].last = news
    if news.news.change == .raised { entries[key]?.count += 1 }
    return line(of: key, now)
  }

  /// The lines whose time has come.
  mutating func timePassed(now: MonotonicTime) -> [Line] {
    deadline = nil
    return entries.filter { $0.value.last != nil }.keys.sorted().compactMap { line(of: $0, now) }
  }

  private mutating func line(of key: String, _ now: MonotonicTime) -> Line? {
    guard var entry = entries[key], let last = entry.last else { return nil }
    guard entry.limit.admit(now: now) else {
      let pause = entry.limit.next(after: 0)
      deadline = min(deadline ?? now + .seconds(pause), now + .seconds(pause))
      entries[key] = entry
      return nil
    }
    let count = entry.count
    (entry.last, entry.count) = (nil, 0)
    entries[key] = entry
    return Self.line(last, count: count)
  }

  private static func line(_ news: AlarmBook.News, count: Int) -> Line {
    let (alarm, isRaised) = (AccessoryAlarm(news.news.alarm), news.news.change == .raised)
    let value = alarm.value.map { ", " + SafeText.escape($0, limit: 200) } ?? ""
    return Line(
      text: "\(SafeText.escape(news.device.fullTitle, limit: 200)): alarm\(isRaised ? "" : " cleared"): "
        + SafeText.escape(alarm.name, limit: 200) + value
        + (count > 1 ? "; it flaps: raised \(count) times since the last line" : ""),
      isRaised: isRaised)
  }
}
