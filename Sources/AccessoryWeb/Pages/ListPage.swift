// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The list of all accessories: a card for each.
enum ListPage {
  /// The content for this state. `title` names the machine or the fleet.
  static func content(_ state: WebState.Snapshot, title: String, now: MonotonicTime) -> LiveContent {
    let rows = state.rows.map(\.row)
    let counts = counts(rows)
    let alarms = rows.count { $0.severity == .alarm }
    var content = LiveContent(title: (alarms > 0 ? Amount.of(alarms, "alarm") + " – " : "") + title)
    content.parts = [
      .init(id: "summary", html: "<p id=\"summary\" role=\"status\">\(counts)</p>"),
      .init(id: "notes", html: notes(state, isEmpty: rows.isEmpty)),
    ]
    for (name, row) in state.rows {
      content.parts.append(.init(id: CardView.identity(name), html: CardView.html(row, name: name, now: now)))
      if let time = row.readTime { content.ages.append(now - time) }
    }
    content.order = state.rows.map { CardView.identity($0.name) }
    return content
  }

  /// The page's main element with its parts.
  static func main(_ content: LiveContent) -> String {
    let parts = content.parts.map(\.html)
    return parts.prefix(2).joined() + "<ul id=\"list\" class=\"cards\">" + parts.dropFirst(2).joined() + "</ul>"
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
    texts.append("<span>\(Amount.of(rows.count, "accessory"))</span>")
    return texts.joined(separator: " ")
  }

  private static func notes(_ state: WebState.Snapshot, isEmpty: Bool) -> String {
    var lines = state.notes
    if isEmpty, lines.isEmpty { lines.append(state.emptyText) }
    if state.leftOut > 0 {
      lines.append("\(Amount.of(state.leftOut, "more accessory")): there is no room on this page")
    }
    return "<div id=\"notes\">" + lines.map { "<p>\(HTML.text($0))</p>" }.joined() + "</div>"
  }
}
