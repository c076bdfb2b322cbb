// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import CommandOutput
import Console
import Glibc

/// The list of devices that a scan finds, drawn again and again on a terminal.
final class NeighbourList: Sendable {
  private let isLive: Bool
  /// The widths of the lines that are on the terminal.
  private let drawn = Locked<[Int]>([])

  init(isLive: Bool) { self.isLive = isLive }

  /// Draws what there is so far, as much as the terminal has room for.
  func draw(_ neighbours: [HM10Neighbour]) {
    guard isLive else { return }
    let size = Self.size
    var lines = Self.lines(neighbours, columns: size.columns)
    // The last row is the cursor's.
    let room = max(2, size.rows - 1)
    if lines.count > room { lines = Array(lines[..<(room - 1)]) + ["… \(neighbours.count - room + 2) more"] }
    replace(lines, columns: size.columns)
  }

  /// Shows all.
  func finish(_ neighbours: [HM10Neighbour]) {
    let columns = isLive ? Self.size.columns : nil
    let lines = neighbours.isEmpty ? ["Nothing was found."] : Self.lines(neighbours, columns: columns)
    if let columns { return replace(lines, columns: columns) }
    if neighbours.isEmpty { return Output.note(lines[0]) }
    lines.forEach(Output.line)
  }

  private func replace(_ lines: [String], columns: Int) {
    let old = drawn.withLock { drawn in
      defer { drawn = lines.map { TextWidth.of($0) } }
      return drawn
    }
    // A terminal that has become narrower shows a line as several.
    let rows = old.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    let up = rows > 0 ? "\u{1B}[\(min(rows, max(1, Self.size.rows - 1)))A\r" : ""
    // Line by line: some terminals keep a screen that is cleared as a whole as if it had been scrolled away.
    Output.text(up + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
  }

  /// The devices, a line each, in so many columns; in as many as they need where that is nil.
  private static func lines(_ neighbours: [HM10Neighbour], columns: Int?) -> [String] {
    let style = Style.standardOutput
    let isNarrow = columns ?? 80 < 60
    let gap = isNarrow ? " " : "  "
    var lines = [
      style.bold([pad("#", 3), pad("signal", isNarrow ? 8 : 9), "address          ", "name"].joined(separator: gap))
    ]
    for (index, neighbour) in neighbours.enumerated() {
      let signal = neighbour.signalStrength.map { "\($0) dBm" } ?? "-"
      let name = neighbour.name.map { SafeText.escape($0, limit: 32) } ?? "-"
      let front = [
        pad("\(index + 1)", 3), style.signal(pad(signal, isNarrow ? 8 : 9), neighbour.signalStrength),
        neighbour.address.description,
      ].joined(separator: gap)
      lines.append(front + gap + fitted(name, columns.map { $0 - TextWidth.of(front + gap) }))
    }
    // Narrower than an address there is no list to read; it is cut all the same, since it is drawn again.
    guard let columns, columns < 40 else { return lines }
    return lines.map { TextWidth.of($0) <= columns ? $0 : String(TextWidth.prefix(plain($0)[...], columns: columns)) }
  }

  /// A name in so many columns: what is cut shows that.
  private static func fitted(_ name: String, _ columns: Int?) -> String {
    guard let columns, TextWidth.of(name) > columns else { return name }
    return columns > 0 ? TextWidth.prefix(name[...], columns: columns - 1) + "…" : ""
  }

  /// A line without its colours.
  private static func plain(_ line: String) -> String {
    line.split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated().map { index, part in
      index == 0 ? part : part.drop { $0 != "m" }.dropFirst()
    }.joined()
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  private static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }
}

extension Style {
  /// A text in the colour of a signal's strength: from red at −100 dBm and less to green at −40 and more.
  func signal(_ text: String, _ strength: Int?) -> String {
    guard let strength else { return dim(text) }
    let colours = ["38;5;196", "38;5;202", "38;5;214", "38;5;226", "38;5;154", "38;5;46"]
    let step = min(5, max(0, (strength + 100) / 12))
    return paint(text, strength < -100 ? colours[0] : colours[step])
  }
}
