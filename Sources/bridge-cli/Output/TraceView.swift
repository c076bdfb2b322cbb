// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CommandOutput

/// A trace, a line an entry.
struct TraceView: Sendable {
  let json: Bool
  /// Whether all bytes of a long frame are shown.
  let full: Bool

  private static let shownBytes = 24

  /// Shows an entry of a trace that began at `began`, in seconds since 1970, UTC; nil where that isn't known.
  func show(_ entry: TraceEntry, began: Double?) {
    if json { return Output.json(TraceDocument(entry, began: began)) }
    Output.wrapped(line(entry), indent: Self.indent(Output.columns))
  }

  /// The blanks before what goes on in another line: below the words where there is room for that.
  static func indent(_ columns: Int?) -> Int { columns ?? 80 >= 60 ? 17 : 4 }

  /// An entry for people.
  func line(_ entry: TraceEntry) -> String {
    let style = Style.standardOutput
    let time = Recording.seconds(entry.time).dropLast(3)
    let arrow = entry.direction == .fromDevice ? "<" : ">"
    switch entry.content {
    case .lost(let count):
      return "\(style.dim(padded(time)))  !  \(style.red("\(count) bytes are missing here: they came too fast"))"
    case .noise(let count):
      return "\(style.dim(padded(time)))  \(arrow)  \(style.red("\(count) bytes that are no frame"))"
    case .bytes(let bytes):
      let shown = Hex.text(full ? bytes[...] : bytes.prefix(Self.shownBytes))
      return "\(style.dim(padded(time)))  \(arrow)  \(hex(bytes))  \(style.dim("|\(shown)|"))"
    case .frame(let words):
      // Texts of the accessory are escaped where the words are made; nothing of a family's is trusted with a terminal.
      let what = SafeText.escape(words.title, limit: 120)
      let text = SafeText.escape(words.summary, limit: full ? .max : 1_000)
      let title = words.outcome == .whole ? (words.isRefusal ? style.yellow(what) : what) : style.red(what)
      let bytes = words.outcome == .whole ? "  " + style.dim(hex(words.bytes)) : ""
      return "\(style.dim(padded(time)))  \(arrow)  \(title)  \(text)\(bytes)"
    }
  }

  private func padded(_ time: Substring) -> String {
    String(repeating: " ", count: max(0, 12 - time.count)) + time
  }

  private func hex(_ bytes: [UInt8]) -> String {
    let shown = full ? bytes[...] : bytes.prefix(Self.shownBytes)
    return Hexadecimal.string(shown) + (shown.count < bytes.count ? "… (\(bytes.count) bytes)" : "")
  }
}
