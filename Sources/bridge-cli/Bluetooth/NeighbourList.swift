// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import CommandOutput
import Glibc

/// The list of devices that a scan finds, drawn again and again on a terminal.
final class NeighbourList: Sendable {
  private let isLive: Bool
  /// Lines that are on the terminal.
  private let drawn = Locked(0)

  init(isLive: Bool) { self.isLive = isLive }

  /// Draws what there is so far, as much as the terminal has room for.
  func draw(_ neighbours: [HM10Neighbour]) {
    guard isLive else { return }
    var lines = Self.lines(neighbours)
    let room = max(2, Self.size.rows - 1)
    if lines.count > room { lines = Array(lines[..<(room - 1)]) + ["… \(neighbours.count - room + 2) more"] }
    replace(lines)
  }

  /// Shows all.
  func finish(_ neighbours: [HM10Neighbour]) {
    let lines = neighbours.isEmpty ? ["Nothing was found."] : Self.lines(neighbours)
    if isLive { return replace(lines) }
    if neighbours.isEmpty { return Output.note(lines[0]) }
    lines.forEach(Output.line)
  }

  private func replace(_ lines: [String]) {
    let old = drawn.withLock { drawn in
      defer { drawn = lines.count }
      return drawn
    }
    let up = old > 0 ? "\u{1B}[\(old)A\r" : ""
    Output.text(up + "\u{1B}[J" + lines.map { $0 + "\n" }.joined())
  }

  private static func lines(_ neighbours: [HM10Neighbour]) -> [String] {
    let style = Style.standardOutput
    var lines = [style.bold("  #     signal  address            name")]
    let room = max(8, size.columns - 39)
    for (index, neighbour) in neighbours.enumerated() {
      let signal = neighbour.signalStrength.map { "\($0) dBm" } ?? "-"
      let name = neighbour.name.map { SafeText.escape($0, limit: 32) } ?? "-"
      lines.append(
        pad("\(index + 1)", 3) + "  " + style.signal(pad(signal, 9), neighbour.signalStrength)
          + "  \(neighbour.address)  \(style.isTerminal ? String(name.prefix(room)) : name)")
    }
    return lines
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
