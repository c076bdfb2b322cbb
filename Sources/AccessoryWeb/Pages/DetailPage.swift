// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console

/// The page of one accessory: everything that is known about it.
enum DetailPage {
  /// The contents besides the accessory's state.
  struct More: Sendable {
    var graphs = ""
    var events: [WebEvent] = []
    var commands: [CommandDescription] = []
    /// The address of the page with the forms of the commands; nil if there are none.
    var forms: String?
  }

  static func content(_ row: TopRow, _ more: More, title: String, now: MonotonicTime) -> LiveContent {
    var content = LiveContent(title: "\(row.title): \(row.shownState) – \(title)")
    func add(_ id: String, _ html: String, _ element: String = "section", class name: String = "") {
      let kind = name.isEmpty ? "" : " class=\"\(name)\""
      content.parts.append(.init(id: id, html: "<\(element) id=\"\(id)\"\(kind)>\(html)</\(element)>"))
    }
    add("head", head(row), "div", class: "head \(CardView.state(row))")
    add("banner", CardView.list(row.reasons.sorted { $0.severity > $1.severity }), "div")
    let readings = row.readings(now: now)
    // First, whether they still hold.
    let place = readings.firstIndex { $0.name == "Read" }.map { $0 + 1 } ?? 0
    add(
      "readings",
      "<h2>Readings</h2>" + CardView.charge(row)
        + HTML.facts(Array(readings[..<place]) + own(row) + readings[place...]),
      class: row.isStale ? "panel stale" : "panel")
    add("cells", HTML.section("Cells", cells(row)), class: "panel")
    add("graphs", more.graphs, class: "panel wide")
    add("values", HTML.section("Values", values(row)), class: "panel")
    add("identity", HTML.section("Identity", HTML.facts(row.facts)), class: "panel")
    add("commands", HTML.section("Commands", commands(more)), class: "panel")
    add("events", HTML.section("Events", events(more.events)), class: "panel")
    if let time = row.readTime { content.ages = [now - time] }
    return content
  }

  /// The page's main element: the parts, some of them in columns.
  static func main(_ content: LiveContent) -> String {
    func parts(_ ids: String...) -> String { content.parts.filter { ids.contains($0.id) }.map(\.html).joined() }
    func columns(_ parts: String) -> String { "<div class=\"columns\">\(parts)</div>" }
    return parts("head", "banner") + columns(parts("readings", "cells")) + parts("graphs")
      + columns(parts("values", "identity", "commands", "events"))
  }

  private static func head(_ row: TopRow) -> String {
    "\(Picture(row).svg)<p class=\"state\" role=\"status\">\(HTML.text(CardView.word(row)))</p>"
  }

  /// The battery's quantities that other views show in one line.
  private static func own(_ row: TopRow) -> [(name: String, text: String)] {
    guard let battery = row.battery else { return [] }
    return [BatteryReading.Field.voltage, .current].compactMap { field in
      ReadingText.text(field.term, of: battery).map { (field.term.label, $0) }
    }
  }

  /// The cells, each with a bar scaled between the lowest and the highest.
  private static func cells(_ row: TopRow) -> String {
    guard let cells = row.battery?.cellMillivolts, !cells.isEmpty else { return "" }
    let known = cells.compactMap { $0 }
    guard let least = known.min(), let greatest = known.max() else {
      return "<p>\(cells.count), not known</p>"
    }
    let spread = greatest - least
    let items = cells.enumerated().map { index, cell -> String in
      guard let cell else { return "<li><span class=\"number\">\(index + 1)</span> <span>-</span></li>" }
      let share = spread > 0 ? 20 + 80 * (cell - least) / spread : 100
      let mark = spread == 0 ? "" : cell == least ? "min" : cell == greatest ? "max" : ""
      return "<li\(mark.isEmpty ? "" : " class=\"\(mark)\"")><span class=\"number\">\(index + 1)</span> "
        + "<span>\(DecimalText.thousandths(cell)) V</span> <svg class=\"bar\" viewBox=\"0 0 100 4\" "
        + "preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"trough\" width=\"100\" height=\"4\"/>"
        + "<rect class=\"level\" width=\"\(share)\" height=\"4\"/></svg> <span class=\"mark\">\(mark)</span></li>"
    }
    return "<p>\(DecimalText.thousandths(least)) V to \(DecimalText.thousandths(greatest)) V, spread \(spread) mV</p>"
      + "<ol class=\"cells\">" + items.joined() + "</ol>"
  }

  /// The values with labels for people, and the names that alarms and commands use: what is measured, and folded up what never changes.
  private static func values(_ row: TopRow) -> String {
    let values = (row.values ?? []).sorted { $0.importance < $1.importance }
    let constants = list(values.filter(\.importance.isConstant))
    let folded =
      constants.isEmpty ? "" : "<details><summary>Settings, ratings and versions</summary>\(constants)</details>"
    return list(values.filter { !$0.importance.isConstant }) + folded
  }

  private static func list(_ values: [AccessoryValue]) -> String {
    let rows = values.map { value in
      let title = NameWords.title(value.name)
      let name = title == value.name ? "" : " <code>\(HTML.text(value.name))</code>"
      let text = (TopRow.text(value) ?? "-") + (value.isDerived ? "  (derived)" : "")
      return "<div><dt>\(HTML.text(title))\(name)</dt><dd>\(HTML.text(text))</dd></div>"
    }
    return rows.isEmpty ? "" : "<dl class=\"facts\">\(rows.joined())</dl>"
  }

  /// The list of commands. The forms to perform them are on a page of their own, which isn't reloaded while somebody types.
  private static func commands(_ more: More) -> String {
    if more.commands.isEmpty { return "" }
    let items = more.commands.prefix(100).map { command in
      "<div><dt><code>\(HTML.text(command.form))</code></dt><dd>\(HTML.text(command.summary))"
        + (command.isWrite ? " (changes something in the accessory)" : "") + "</dd></div>"
    }
    let how =
      more.forms.map { "<a class=\"act\" href=\"\(HTML.text($0, limit: 400))\">Perform a command</a>" }
      ?? "This page can't send them; <code>bridge-cli request</code> can."
    return "<p>\(how)</p><dl class=\"commands\">" + items.joined() + "</dl>"
  }

  /// The events, the newest first.
  private static func events(_ events: [WebEvent]) -> String {
    if events.isEmpty { return "" }
    let items = events.sorted { $0.time > $1.time }.prefix(100).map { event in
      let name = event.severity == .alarm ? " class=\"alarm\"" : event.severity == .warning ? " class=\"warning\"" : ""
      return "<li\(name)><time>\(LocalTime.dateText(event.time))</time> \(HTML.text(event.text))</li>"
    }
    return "<ol class=\"events\">" + items.joined() + "</ol>"
  }
}
