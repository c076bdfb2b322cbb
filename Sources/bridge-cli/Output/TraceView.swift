// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CommandOutput

/// Prints a trace, one line per entry.
struct TraceView: Sendable {
  let json: Bool
  /// Whether all bytes of a long frame are shown.
  let full: Bool
  /// Whether nothing is printed, because a capture is written to standard output.
  var isSilent = false

  private static let shownBytes = 24

  /// Prints an entry. `began` is the moment at which the trace began, in seconds since 1970, UTC; nil if unknown.
  func show(_ entry: TraceEntry, began: Double?) {
    if isSilent { return }
    if json { return Output.json(TraceDocument(entry, began: began)) }
    Output.wrapped(line(entry), indent: Self.indent(Output.columns))
  }

  /// The indentation of continued lines, in columns: below the text on a screen of 60 columns or more.
  static func indent(_ columns: Int?) -> Int { columns ?? 80 >= 60 ? 17 : 4 }

  /// An entry as a line for people.
  func line(_ entry: TraceEntry) -> String {
    let style = Style.standardOutput
    let time = Recording.seconds(entry.time).dropLast(3)
    let arrow = entry.direction == .fromDevice ? "<" : ">"
    switch entry.content {
    case .lost(let count):
      return
        "\(style.dim(padded(time)))  !  \(style.red("\(Amount.of(count, "byte", is: ("is", "are"))) missing here: they came too fast"))"
    case .note(let text): return "\(style.dim(padded(time)))  -  \(SafeText.escape(text, limit: TraceRecord.noteLimit))"
    case .noise(let count):
      return
        "\(style.dim(padded(time)))  \(arrow)  \(style.red("\(Amount.bytes(count)) that \(count == 1 ? "is" : "are") not a frame"))"
    case .bytes(let bytes):
      let shown = Hex.text(full ? bytes[...] : bytes.prefix(Self.shownBytes))
      return "\(style.dim(padded(time)))  \(arrow)  \(hex(bytes))  \(style.dim("|\(shown)|"))"
    case .frame(let words):
      // Escape a frame's text here, even if a driver has escaped it already.
      let what = SafeText.escape(words.title, limit: 120)
      let text = SafeText.escape(words.summary, limit: full ? .max : 1_000)
      let title = words.outcome == .whole ? (words.isRefusal ? style.yellow(what) : what) : style.red(what)
      let hasBytes = words.outcome == .whole || !words.bytes.isEmpty
      let bytes = hasBytes ? "  " + style.dim(hex(words.bytes)) : ""
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
