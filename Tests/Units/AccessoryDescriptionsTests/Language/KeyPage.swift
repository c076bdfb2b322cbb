// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import TestSupport

/// A page's tables of keys, each of one mapping or of several: `<!-- keys: transport, tty: tty -->` has those of the transport, and those of
/// its key `tty` with this word in front.
enum KeyPage {
  private struct Row {
    let prefix: String
    let key: KeyTable.Key
  }

  private static func rows(_ text: Substring, _ tables: [KeyTable]) -> [Row] {
    let parts = text.split(separator: ", ").map { part -> (prefix: String, name: Substring) in
      let words = part.split(separator: " ")
      return (words.dropLast().map { $0 + " " }.joined(), words[words.count - 1])
    }
    return parts.flatMap { part -> [Row] in
      guard let table = tables.first(where: { $0.name == part.name }) else { return [] }
      return table.keys.filter { key in
        !key.isSeldom && !parts.contains { $0.prefix == part.prefix + key.name + ": " }
      }.map { Row(prefix: part.prefix, key: $0) }
    }
  }

  private static func table(_ rows: [Row]) -> [String] {
    let keys = rows.map(\.key)
    let hasDefaults = keys.contains { !$0.usual.isEmpty || $0.missing != nil }
    var lines = [
      "| key | what | form |" + (hasDefaults ? " default |" : ""), "|---|---|---|" + (hasDefaults ? "---|" : ""),
    ]
    var rest = rows[...]
    while let row = rest.popFirst() {
      let key = row.key
      var names = ["`\(row.prefix)\(key.name)`"]
      while let likewise = key.likewise, rest.first?.key.likewise == likewise {
        names.append("`\(rest.removeFirst().key.name)`")
      }
      let since = key.since == "0.2" || key.likewise != nil ? "" : " (since \(key.since))"
      let usual = key.likewise != nil ? "" : key.missing != nil ? "required" : usual(key)
      lines.append(
        "| \(names.joined(separator: ", ")) | \(key.likewise ?? key.meaning)\(since) | \(key.likewise == nil ? form(key.form) : "") |"
          + (hasDefaults ? " \(usual) |" : ""))
    }
    return lines
  }

  private static func usual(_ key: KeyTable.Key) -> String {
    if case .flag = key.form, key.usual.isEmpty { "`false`" } else { key.usual }
  }

  private static func form(_ form: KeyForm) -> String {
    switch form {
    case .flag: "`true`, `false`"
    case .whole(let range), .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .words(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .text(let limit, _): "a text of up to \(limit) bytes"
    case .time(let range):
      range.lowerBound > .milliseconds(1)
        ? "`\(TimeText.text(range.lowerBound))` to `\(TimeText.text(range.upperBound))`"
        : "a time up to `\(TimeText.text(range.upperBound))`"
    case .bytes(let limit): limit == 1 ? "a byte" : "up to \(limit) bytes"
    case .shared(_, let text), .other(let text): text
    case .named(_, let limit): "by name, 1 to \(limit)"
    case .list(_, let limit): "a list of 1 to \(limit)"
    case .oneOrMore: "one, or a list"
    }
  }

  /// The page with the tables between `<!-- keys: NAME -->` and `<!-- keys: end -->` made anew.
  static func renewed(_ page: String, _ tables: [KeyTable]) -> String {
    MadeFile.page(page, "keys") { name, _ in table(rows(name, tables)) }
  }
}
