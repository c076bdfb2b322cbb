// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import CommandOutput
import Console
import Glibc

/// A device in the list: found by a module, or by this computer's own adapter.
struct NeighbourRow: Sendable {
  let address: BluetoothAddress
  let signalStrength: Int?
  let name: String?
  /// Other facts, for people; empty if there are none.
  var about = ""
}

extension NeighbourRow {
  init(_ neighbour: RadioNeighbour) {
    self.init(address: neighbour.address, signalStrength: neighbour.signalStrength, name: neighbour.name)
  }
}

/// The list of devices that a scan has found. On a terminal it is redrawn in place.
final class NeighbourList: Sendable {
  private let isLive: Bool
  /// The widths, in columns, of the lines that are on the terminal now.
  private let drawn = Locked<[Int]>([])

  init(isLive: Bool) { self.isLive = isLive }

  /// Draws the devices found so far, as many as fit on the screen.
  func draw(_ neighbours: [NeighbourRow]) {
    guard isLive else { return }
    let size = Self.size
    var lines = Self.lines(neighbours, columns: size.columns)
    // The last row is left for the cursor.
    let room = max(2, size.rows - 1)
    if lines.count > room { lines = Array(lines[..<(room - 1)]) + ["… \(neighbours.count - room + 2) more"] }
    replace(lines, columns: size.columns)
  }

  /// Shows the whole list at the end of the scan.
  func finish(_ neighbours: [NeighbourRow]) {
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
    // A terminal that has become narrower wraps a line over several rows.
    let rows = old.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
    let up = rows > 0 ? "\u{1B}[\(min(rows, max(1, Self.size.rows - 1)))A\r" : ""
    // Lines are cleared one by one: some terminals move a screen that is cleared as a whole into the scroll-back
    // buffer.
    Output.text(up + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
  }

  /// One line for each device, at most `columns` wide; as wide as the texts need where `columns` is nil.
  private static func lines(_ neighbours: [NeighbourRow], columns: Int?) -> [String] {
    let style = Style.standardOutput
    let isNarrow = columns ?? 80 < 60
    let gap = isNarrow ? " " : "  "
    var lines = [
      style.bold([pad("#", 3), pad("signal", isNarrow ? 8 : 9), "address          ", "name"].joined(separator: gap))
    ]
    for (index, neighbour) in neighbours.enumerated() {
      let signal = neighbour.signalStrength.map { "\($0) dBm" } ?? "-"
      let name = neighbour.name.map { SafeText.escape($0, limit: 32) } ?? "-"
      let text = neighbour.about.isEmpty ? name : pad(name, -24) + gap + neighbour.about
      let front = [
        pad("\(index + 1)", 3), style.signal(pad(signal, isNarrow ? 8 : 9), neighbour.signalStrength),
        neighbour.address.description,
      ].joined(separator: gap)
      lines.append(front + gap + (columns.map { TextCut.text(text, columns: $0 - TextWidth.of(front + gap)) } ?? text))
    }
    // A terminal narrower than an address can't show the list readably. Lines are cut anyway, since a wrapped line
    // would break redrawing.
    guard let columns, columns < 40 else { return lines }
    return lines.map { TextCut.text($0, columns: columns) }
  }

  /// The text with spaces before it, or after it if `width` is negative.
  private static func pad(_ text: String, _ width: Int) -> String {
    let spaces = String(repeating: " ", count: max(0, Int(width.magnitude) - TextWidth.of(text)))
    return width < 0 ? text + spaces : spaces + text
  }

  private static var size: (rows: Int, columns: Int) {
    TerminalSize(of: STDOUT_FILENO).map { ($0.rows, $0.columns) } ?? (24, 80)
  }
}

extension Style {
  /// `text` in the colour for a signal strength in dBm: from red at −100 and below to green at −40 and above.
  func signal(_ text: String, _ strength: Int?) -> String {
    guard let strength else { return dim(text) }
    let colours = ["38;5;196", "38;5;202", "38;5;214", "38;5;226", "38;5;154", "38;5;46"]
    let step = min(5, max(0, (strength + 100) / 12))
    return paint(text, strength < -100 ? colours[0] : colours[step])
  }
}
