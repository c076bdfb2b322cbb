// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// What the reader chose for the list: which accessories, in which order and form. It is the query of the page's address.
struct ListChoice: Sendable, Hashable {
  /// By what the accessories are put together.
  enum Group: String, Sendable, CaseIterable {
    case place, kind, gateway
  }

  /// The words to find, as they were typed.
  var text = ""
  var sort = TopSort.alarm
  var group: Group?
  /// Whether each accessory is a line of a table, not a card.
  var isTable = false

  /// The longest text to find, in characters.
  private static let textLimit = 100

  /// Reads `find=attic&sort=name&group=kind&view=table`. Invalid parts are ignored.
  init(query: String = "") {
    guard let fields = FormFields(Array(query.utf8)) else { return }
    text = String((fields["find"] ?? "").prefix(Self.textLimit))
    sort = fields["sort"].flatMap(TopSort.init) ?? sort
    group = fields["group"].flatMap(Group.init)
    isTable = fields["view"] == "table"
  }

  /// The choice as a query, with its question mark; empty for the default one.
  var query: String {
    let fields = [
      text.isEmpty ? nil : "find=\(PageName.encode(text))", sort == .alarm ? nil : "sort=\(sort.rawValue)",
      group.map { "group=\($0.rawValue)" }, isTable ? "view=table" : nil,
    ]
    let text = fields.compactMap { $0 }.joined(separator: "&")
    return text.isEmpty ? "" : "?" + text
  }

  /// The accessories that the reader wants to see, in order, each with the heading of its group.
  func rows(
    _ rows: [(name: String, row: TopRow)]
  ) -> [(heading: String?, name: String, row: TopRow)] {
    let words = text.lowercased().split(separator: " ").map(String.init)
    let found = rows.enumerated().filter { $0.element.row.matches(words) }
    let sorted = found.map {
      (entry: $0.element, place: sort.place($0.element.row, $0.offset), group: heading($0.element.row))
    }
    .sorted { one, other in
      if let a = one.group, let b = other.group, a != b { return a.isEmpty || b.isEmpty ? b.isEmpty : a < b }
      return sort.isBefore(one.place, other.place, isInverted: false)
    }
    return sorted.map { ($0.group, $0.entry.name, $0.entry.row) }
  }

  /// The group of an accessory; empty if it has none, nil if nothing is grouped.
  private func heading(_ row: TopRow) -> String? {
    switch group {
    case .place: row.area ?? ""
    case .kind: Picture(row).plural
    case .gateway: row.gateway ?? ""
    case nil: nil
    }
  }

  /// The heading of accessories without a group.
  var otherHeading: String {
    switch group {
    case .place: "No place is known"
    case .kind, .gateway, nil: "Others"
    }
  }

  // MARK: - The form

  /// The form to choose. Without a script it loads the page again; with one the list changes at once.
  var form: String {
    let isOpen = self == ListChoice() ? "" : " open"
    return "<details class=\"choose\"\(isOpen)><summary>Find, sort and group</summary>"
      + "<form id=\"choice\" role=\"search\" action=\"./\"><label>Find <input type=\"search\" name=\"find\" maxlength=\"\(Self.textLimit)\" "
      + "autocomplete=\"off\" value=\"\(HTML.text(text))\"></label>"
      + select(
        "sort", "Sort by", sort.rawValue,
        [("alarm", "what needs care"), ("name", "name"), ("charge", "charge"), ("age", "last reading")])
      + select(
        "group", "Group by", group?.rawValue ?? "",
        [("", "nothing"), ("place", "place"), ("kind", "kind"), ("gateway", "gateway")])
      + select("view", "Show", isTable ? "table" : "", [("", "cards"), ("table", "a table")])
      + "<button>Show</button></form></details>"
  }

  private func select(_ name: String, _ label: String, _ chosen: String, _ options: [(value: String, text: String)])
    -> String
  {
    let items = options.map { option in
      "<option value=\"\(option.value)\"\(option.value == chosen ? " selected" : "")>\(option.text)</option>"
    }
    return "<label>\(label) <select name=\"\(name)\">\(items.joined())</select></label>"
  }
}
