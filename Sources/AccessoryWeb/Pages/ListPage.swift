// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The list of all accessories: the sums over all, and a card or a line for each.
struct ListPage {
  let title: String
  let choice: ListChoice
  let overviews: DayOverviews
  let now: MonotonicTime
  /// The current time in seconds since 1970.
  let wallClock: Double

  func content(_ state: WebState.Snapshot) -> LiveContent {
    let rows = state.rows.map(\.row)
    let alarms = rows.count { $0.severity == .alarm }
    var content = LiveContent(title: (alarms > 0 ? Amount.of(alarms, "alarm") + " – " : "") + title)
    let shown = choice.rows(state.rows)
    content.parts = [
      .init(id: "summary", html: "<p id=\"summary\" role=\"status\">\(Self.counts(rows))</p>"),
      .init(id: "totals", html: Totals(rows, overviews).html),
      .init(id: "notes", html: notes(state, isEmpty: rows.isEmpty, isFound: !shown.isEmpty)),
    ]
    content.order = []
    var heading: String?
    for (group, name, row) in shown {
      if let group, group != heading {
        heading = group
        add(heading: group, to: &content)
      }
      let html =
        choice.isTable
        ? TableView.html(row, name: name, now: now)
        : CardView.html(row, name: name, overviews[row.key]?.picture(now: wallClock) ?? "", now: now)
      content.parts.append(.init(id: CardView.identity(name), html: html))
      content.order?.append(CardView.identity(name))
      if let time = row.readTime { content.ages.append(now - time) }
    }
    return content
  }

  private func add(heading: String, to content: inout LiveContent) {
    let id = "g-" + PageName.encode(heading)
    let text = HTML.text(heading.isEmpty ? choice.otherHeading : heading)
    let html =
      choice.isTable
      ? "<tr class=\"group\" id=\"\(id)\"><th scope=\"rowgroup\" colspan=\"\(TableView.columns.count)\">\(text)</th></tr>"
      : "<li class=\"group\" id=\"\(id)\"><h2>\(text)</h2></li>"
    content.parts.append(.init(id: id, html: html))
    content.order?.append(id)
  }

  /// The page's main element with its parts.
  static func main(_ content: LiveContent, _ choice: ListChoice) -> String {
    let parts = content.parts.map(\.html)
    let (head, items) = (parts.prefix(3).joined(), parts.dropFirst(3).joined())
    let list = choice.isTable ? TableView.table(items) : "<ul id=\"list\" class=\"cards\">\(items)</ul>"
    let isWorthIt = content.order.map { $0.count > 1 } ?? false
    return head + (isWorthIt || choice != ListChoice() ? choice.form : "") + list
  }

  /// The number of accessories that need attention, in the words of the first line of `top`.
  private static func counts(_ rows: [TopRow]) -> String {
    var texts: [String] = []
    func add(_ count: Int, _ text: String, _ name: String) {
      if count > 0 { texts.append("<span class=\"\(name)\">\(text)</span>") }
    }
    let alarms = rows.count { $0.severity == .alarm }
    let warnings = rows.count { $0.severity == .warning }
    let away = rows.count { $0.reach == .away }
    add(alarms, Amount.of(alarms, "alarm"), "alarm")
    add(warnings, Amount.of(warnings, "warning"), "warning")
    add(away, "\(away) away", "away")
    let stale = rows.count { $0.reach == .attached && $0.isStale }
    add(stale, "\(stale) stale", "stale")
    texts.append("<span>\(Amount.of(rows.count, "accessory"))</span>")
    return texts.joined(separator: " ")
  }

  private func notes(_ state: WebState.Snapshot, isEmpty: Bool, isFound: Bool) -> String {
    var lines = state.notes.map { "<p>\(HTML.text($0))</p>" }
    if isEmpty, lines.isEmpty { lines.append("<p>\(HTML.text(state.emptyText))</p>") }
    if !isEmpty, !isFound {
      lines.append("<p>No accessory has \u{201C}\(HTML.text(choice.text))\u{201D} in its name or its facts.</p>")
    }
    if state.leftOut > 0 {
      lines.append("<p>\(Amount.of(state.leftOut, "more accessory")): there is no room on this page</p>")
    }
    return "<div id=\"notes\"\(isEmpty ? " class=\"empty\"" : "")>" + lines.joined() + "</div>"
  }
}
