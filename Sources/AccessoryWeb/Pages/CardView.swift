// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console

/// An accessory as a card of the list.
enum CardView {
  /// The most values on a card, besides the battery's.
  private static let valueLimit = 4

  /// The element's identity in the page.
  static func identity(_ name: String) -> String { "a-" + name }

  /// The card. `name` is that of the accessory's page, and `root` is the relative path to the list's folder.
  static func html(_ row: TopRow, name: String, now: MonotonicTime) -> String {
    let reasons = row.reasons.sorted { $0.severity > $1.severity }
    return "<li class=\"card \(state(row))\" id=\"\(HTML.text(identity(name), limit: 400))\">"
      + "<div class=\"top\">\(Picture(row).svg)<h2><a href=\"accessory/\(HTML.text(name, limit: 400))\">\(HTML.text(row.name))"
      + "</a></h2><p class=\"state\">\(HTML.text(row.shownState))</p></div>"
      + charge(row) + HTML.facts(facts(row)) + list(reasons) + values(row) + foot(row, now: now) + "</li>"
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
    guard battery.percent != nil || level != nil || charging != nil else { return "" }
    let number =
      if let percent = battery.percent {
        "<span class=\"percent\">\(percent)<small> %</small></span>"
      } else {
        "<span class=\"percent word\">\(HTML.text(level ?? charging ?? ""))</span>"
      }
    // Without a percentage, the level stands in the place of the number, or what the battery does.
    let words = [battery.percent == nil ? nil : level, battery.percent == nil && level == nil ? nil : charging]
      .compactMap { $0 }.joined(separator: ", ")
    var html =
      "<p class=\"charge \(colour(battery.level))\">\(number)<span class=\"does\">\(HTML.text(words))</span></p>"
    if let percent = battery.percent {
      let width = max(0, min(percent, 100))
      html +=
        "<svg class=\"bar \(colour(battery.level))\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        + "<rect class=\"trough\" width=\"100\" height=\"4\"/><rect class=\"level\" width=\"\(width)\" height=\"4\"/></svg>"
    }
    return html
  }

  /// The colour of a battery's level, as a CSS class.
  static func colour(_ level: BatteryReading.Level) -> String {
    switch level.colour {
    case .red: "red"
    case .yellow: "yellow"
    case .green: "green"
    default: "plain"
    }
  }

  /// The quantities on the card, with the labels of the vocabulary.
  private static func facts(_ row: TopRow) -> [(name: String, text: String)] {
    var facts: [(name: String, text: String)] = []
    if let battery = row.battery {
      func add(_ field: BatteryReading.Field) {
        ReadingText.text(field.term, of: battery).map { facts.append((field.term.label, $0)) }
      }
      add(.voltage)
      add(.current)
      if let power = battery.powerInMilliwatts { facts.append(("Power", HeadlineView.power(power))) }
      add(battery.charge == .charging && battery.timeToFull != nil ? .timeToFull : .timeToEmpty)
      if let hottest = BatteryReading.Field.temperatures.term.count(in: battery) {
        facts.append(
          (
            BatteryReading.Field.temperatures.term.label,
            DecimalText.short(Double((hottest + (hottest < 0 ? -50 : 50)) / 100) / 10) + " °C"
          ))
      }
    }
    return facts
  }

  /// The values on the card: those of the headline, then the others that `top` shows, with labels for people.
  private static func values(_ row: TopRow) -> String {
    let headline = row.headline
    let own = Headline(values: headline.parts.compactMap { if case .value(let value) = $0 { value } else { nil } })
    let first = HeadlineView.facts(own).map { "\($0.name): \($0.text)" }
    // The battery's temperature is shown elsewhere on the card.
    let hasTemperature = row.battery.flatMap { BatteryReading.Field.temperatures.term.count(in: $0) } != nil
    let others = (row.values ?? []).lazy.filter { TopRow.isMeasured($0) && !own.parts.contains(.value($0)) }.compactMap
    { value -> String? in
      guard let text = TopRow.text(value), !hasTemperature || !text.hasSuffix("°C") else { return nil }
      let name = NameWords.title(value.name)
      // "Port 4: 50 cm", not "Port 4 50 cm".
      return name + (name.last?.isNumber == true ? ": " : " ") + text
    }
    let shown = (first + others.prefix(valueLimit)).prefix(max(valueLimit, first.count))
    if shown.isEmpty { return "" }
    return "<ul class=\"values\">" + shown.map { "<li>\(HTML.text($0))</li>" }.joined() + "</ul>"
  }

  /// The reasons why the accessory needs attention, as a list.
  static func list(_ reasons: [TopRow.Alarm]) -> String {
    if reasons.isEmpty { return "" }
    let items = reasons.map { reason in
      "<li class=\"\(reason.severity == .alarm ? "alarm" : "warning")\">\(HTML.text(reason.text))</li>"
    }
    return "<ul class=\"reasons\">" + items.joined() + "</ul>"
  }

  private static func foot(_ row: TopRow, now: MonotonicTime) -> String {
    let problem = row.problem.map { "<p class=\"age\">\(HTML.text($0))</p>" } ?? ""
    if row.reach != .attached, row.problem != nil { return problem }
    guard let read = row.readText(now: now) else { return problem }
    // Not "Read now", which looks like a button.
    return problem + "<p class=\"age\">Read \(HTML.text(read.hasPrefix("now") ? "just " + read : read))</p>"
  }
}
