// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A message to people about an alarm.
package struct AlarmMessage: Codable, Sendable, Hashable {
  /// What the message says.
  package enum State: String, Codable, Sendable, Hashable {
    case raised, cleared
    /// The alarm is still raised: a repetition.
    case still
    /// A message of `notify --test`.
    case test
  }

  package var state: State
  /// The accessory's identity, and its name for people.
  package var accessory, name: String
  package var alarm: AccessoryAlarm
  /// When it happened, in seconds since 1970, UTC.
  package var time: Double
  /// How often the alarm was raised since the last message, and since when that was counted; nil for a message about one change.
  package var times: Int?
  var first: Double?
  /// Whether the accessory's next messages have to wait, since it has had many; nil for no.
  var isLimited: Bool?

  package init(_ state: State, accessory: String, name: String, alarm: AccessoryAlarm, time: Double) {
    (self.state, self.accessory, self.name, self.alarm, self.time) = (state, accessory, name, alarm, time)
  }

  /// A message that tests a way.
  package static func test(at time: Double) -> AlarmMessage {
    AlarmMessage(
      .test, accessory: "TEST", name: "Accessory Bridge",
      alarm: AccessoryAlarm(name: "test", rule: "a test of messages", since: time), time: time)
  }

  /// The longest text of an accessory in a message, in Unicode scalars.
  private static let textLimit = 120

  /// One line that says what has happened. All texts of the accessory are escaped.
  package var title: String {
    let (name, alarm) = (
      SafeText.escape(name, limit: Self.textLimit), SafeText.escape(alarm.name, limit: Self.textLimit)
    )
    let flaps = if let times, times > 1 { ", flaps: raised \(times) times" } else { "" }
    return switch state {
    case .raised: "Alarm: \(name): \(alarm)\(flaps)"
    case .still: "Still an alarm: \(name): \(alarm)\(flaps)"
    case .cleared: "Over: \(name): \(alarm)\(flaps)"
    case .test: "A test of Accessory Bridge"
    }
  }

  /// What has happened since the last message, if that is more than one change.
  private var story: String {
    var story = ""
    if let times, times > 0 {
      let span = Self.text(seconds: time - (times > 1 ? first ?? time : alarm.since))
      story = times > 1 ? "; it was raised \(times) times within \(span)" : "; it was raised for \(span)"
    }
    if isLimited == true { story += "; it changes often: from now on you hear of it every 5 min at most" }
    return story
  }

  private static func text(seconds: Double) -> String {
    let whole = Int(min(max(seconds.rounded(), 0), 1e9))
    return whole < 120 ? "\(whole) s" : whole < 7_200 ? "\(whole / 60) min" : "\(whole / 3_600) h"
  }

  /// One or two sentences: the rule, the last value, and what has happened meanwhile.
  package var text: String {
    if state == .test { return "Messages of alarms come this way." }
    let value = alarm.value.map { SafeText.escape($0, limit: Self.textLimit) }
    let rule = SafeText.escape(alarm.rule, limit: 2 * Self.textLimit)
    return rule + (value.map { ": \($0)" } ?? "") + story
      + (name == accessory ? "" : " (\(SafeText.escape(accessory, limit: Self.textLimit)))")
  }

  /// What a webhook gets. `alarm` has the form that documents have.
  private struct Posted: Encodable {
    let event = "alarm"
    let state: State
    let accessory, name, title, text: String
    let alarm: AccessoryAlarm
    let time: Double
    let times: Int?
  }

  /// What an ntfy server gets.
  private struct Published: Encodable {
    let topic, title, message: String
    let tags: [String]
    let priority: Int
  }

  func webhookJSON() throws -> [UInt8] {
    try JSON(
      encoding: Posted(
        state: state, accessory: accessory, name: name, title: title, text: text, alarm: alarm, time: time,
        times: times)
    ).bytes
  }

  /// The JSON for an ntfy server.
  func ntfyJSON(topic: String) throws -> [UInt8] {
    let (tag, priority) =
      switch state {
      case .raised, .still: ("warning", 4)
      case .cleared: ("white_check_mark", 3)
      case .test: ("test_tube", 3)
      }
    // The server reads a title as a mail's subject: it would decode what is written like an encoded word, control characters too.
    let title = title.replacing(MessageSender.wordStart, with: "= ?")
    return try JSON(
      encoding: Published(topic: topic, title: title, message: text, tags: [tag], priority: priority)
    ).bytes
  }

  /// The environment variables for a program, as those of `watch --exec`.
  var variables: [String: String] {
    var variables = [
      "ACCESSORY_EVENT": state == .test ? "test" : "alarm", "ACCESSORY_ID": accessory, "ACCESSORY_NAME": name,
      "ACCESSORY_ALARM": state == .cleared ? "cleared" : "raised", "ACCESSORY_ALARM_NAME": alarm.name,
      "ACCESSORY_ALARM_RULE": alarm.rule, "ACCESSORY_ALARM_VALUE": alarm.value ?? "",
      "ACCESSORY_ALARM_UNIT": alarm.unit ?? "",
    ]
    variables["ACCESSORY_ALARM_NUMBER"] = alarm.number.map { Self.text($0) } ?? ""
    variables["ACCESSORY_ALARM_SINCE"] = Self.text(alarm.since)
    variables["ACCESSORY_MESSAGE_TITLE"] = title
    variables["ACCESSORY_MESSAGE_TEXT"] = text
    return variables.mapValues { SafeText.escape($0, limit: 512) }
  }

  private static func text(_ number: Double) -> String { Int(exactly: number).map { String($0) } ?? "\(number)" }
}
