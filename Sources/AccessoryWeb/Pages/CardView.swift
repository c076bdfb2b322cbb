// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console

/// An accessory as a card of the list.
enum CardView {
  /// The most facts on a card, besides the charge.
  private static let factLimit = 4

  /// The element's identity in the page.
  static func identity(_ name: String) -> String { "a-" + name }

  /// The card. `name` is that of the accessory's page, `day` the picture of its last 24 hours.
  static func html(_ row: TopRow, name: String, _ day: String = "", now: MonotonicTime) -> String {
    "<li class=\"card \(state(row))\" id=\"\(HTML.text(identity(name), limit: 400))\">"
      + "<div class=\"top\">\(Picture(row).svg)<h2><a href=\"accessory/\(HTML.text(name, limit: 400))\">\(HTML.text(row.title))"
      + "</a></h2><p class=\"state\">\(HTML.text(word(row)))</p></div>" + place(row)
      + list(row.reasons.sorted { $0.severity > $1.severity }) + charge(row) + HTML.facts(facts(row)) + day
      + foot(row, now: now) + "</li>"
  }

  private static func place(_ row: TopRow) -> String {
    row.area.map { "<p class=\"place\">\(HTML.text($0))</p>" } ?? ""
  }

  /// The accessory's state in a word. What an alarm is about stands below it.
  static func word(_ row: TopRow) -> String {
    switch (row.reach, row.severity) {
    case (.attached, .alarm): "alarm"
    case (.attached, .warning): "warning"
    case (.attached, .none): row.isStale ? "stale" : row.state
    case (.trying, _), (.away, _): row.state
    }
  }

  /// The accessory's state, as a CSS class.
  static func state(_ row: TopRow) -> String {
    switch (row.severity, row.reach) {
    case (.alarm, _): "alarm"
    case (.warning, _): "warning"
    case (.none, .away): "away"
    case (.none, .trying): "trying"
    case (.none, .attached): row.isStale ? "stale" : "normal"
    }
  }

  /// The charge with its bar, and whether the battery is charging.
  static func charge(_ row: TopRow) -> String {
    guard let battery = row.battery else { return "" }
    let charging = ReadingText.text(BatteryReading.Field.charge.term, of: battery)
    let level = ReadingText.text(BatteryReading.Field.level.term, of: battery)
    guard battery.percent != nil || level != nil else { return "" }
    let number =
      if let percent = battery.percent {
        "<span class=\"percent\">\(percent)<small> %</small></span>"
      } else {
        "<span class=\"percent word\">\(HTML.text(level ?? ""))</span>"
      }
    var html =
      "<p class=\"charge \(colour(battery))\">\(number)<span class=\"does\">\(HTML.text(charging ?? ""))</span></p>"
    if let percent = battery.percent {
      let width = max(0, min(percent, 100))
      html +=
        "<svg class=\"bar \(colour(battery))\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        + "<rect class=\"trough\" width=\"100\" height=\"4\"/><rect class=\"level\" width=\"\(width)\" height=\"4\"/></svg>"
    }
    return html
  }

  /// The colour of a battery, as a CSS class.
  static func colour(_ battery: BatteryReading) -> String {
    switch battery.colour {
    case .red: "red"
    case .yellow: "yellow"
    case .green: "green"
    default: "plain"
    }
  }

  /// The rest of what matters first, with labels: at most so many that a card stays a card.
  static func facts(_ row: TopRow) -> [(name: String, text: String)] {
    let hasCharge = !charge(row).isEmpty
    let facts = HeadlineView.facts(row.headline) { part in
      switch part {
      // The charge has its own place, and the state is in the head.
      case .state: false
      case .battery(.percent), .battery(.level), .battery(.charge): !hasCharge
      default: true
      }
    }
    return Array(facts.prefix(factLimit))
  }

  /// What an alarm says. Its colour and the word in the head say that it is one.
  static func text(_ reason: TopRow.Alarm) -> String {
    reason.text.hasPrefix("alarm: ") ? String(reason.text.dropFirst("alarm: ".count)) : reason.text
  }

  /// The reasons why the accessory needs attention, as a list.
  static func list(_ reasons: [TopRow.Alarm]) -> String {
    if reasons.isEmpty { return "" }
    let items = reasons.map { reason in
      "<li class=\"\(reason.severity == .alarm ? "alarm" : "warning")\">\(HTML.text(text(reason)))</li>"
    }
    return "<ul class=\"reasons\">" + items.joined() + "</ul>"
  }

  private static func foot(_ row: TopRow, now: MonotonicTime) -> String {
    let problem = (row.lastThere() ?? row.problem).map { "<p class=\"age\">\(HTML.text($0))</p>" } ?? ""
    guard let read = row.readText(now: now) else { return problem }
    // Not "Read now", which looks like a button.
    return problem + "<p class=\"age\">Read \(HTML.text(read.hasPrefix("now") ? "just " + read : read))</p>"
  }
}
