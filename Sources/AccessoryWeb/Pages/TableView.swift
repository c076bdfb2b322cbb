// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// An accessory as a line of a table, for people with many.
enum TableView {
  static let columns = ["Name", "State", "Charge", "Now", "Read"]

  static func table(_ lines: String) -> String {
    let heads = columns.map { "<th scope=\"col\">\($0)</th>" }.joined()
    return
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Accessories\"><table class=\"lines\"><thead><tr>\(heads)</tr></thead>"
      + "<tbody id=\"list\">\(lines)</tbody></table></div>"
  }

  static func html(_ row: TopRow, name: String, now: MonotonicTime) -> String {
    let charge = row.battery?.percent.map { "\($0) %" } ?? ""
    let level = row.battery.map { CardView.colour($0) } ?? "plain"
    let facts = CardView.facts(row).map { "\(HTML.text($0.name)) \(HTML.text($0.text))" }.joined(separator: ", ")
    let reasons = row.reasons.map(CardView.text).joined(separator: "; ")
    let state = reasons.isEmpty || row.reach != .attached ? CardView.word(row) : reasons
    return "<tr class=\"\(CardView.state(row))\" id=\"\(HTML.text(CardView.identity(name), limit: 400))\">"
      + "<th scope=\"row\"><a href=\"accessory/\(HTML.text(name, limit: 400))\">\(HTML.text(row.title))</a></th>"
      + "<td class=\"state\">\(HTML.text(state))</td><td class=\"\(level)\">\(charge)</td><td>\(facts)</td>"
      + "<td class=\"age\">\(HTML.text(row.readText(now: now) ?? ""))</td></tr>"
  }
}
