// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput

/// Options for earlier readings: `battery` and `values` take these, `history` has its own.
struct HistoryOptions: PlainOptions {
  @Option(
    help: .rare("time", "Show a graph of what the service has read in the last TIME, up to 400d; without a time: 24h."),
    transform: HistoryArgument.read)
  var history: HistoryArgument?
  @Flag(help: .rare("With --history: print comma-separated values, with the time in the first column.")) var csv = false
  @Option(
    help: .rare("file", "With --history: write a picture (SVG) to this new file."),
    completion: .file(extensions: ["svg"]), transform: PictureFile.read)
  var plot: PictureFile?

  mutating func setDefaults() { (history, csv, plot) = (nil, false, nil) }

  func validate() throws {
    guard history == nil else { return }
    if csv { throw ValidationError("--csv needs --history") }
    if plot != nil { throw ValidationError("--plot needs --history") }
  }

  /// The readings of the last time that `--history` names; nil without it.
  func shown(_ name: String?, _ wanted: ShownHistory.Wanted, json: Bool) -> ShownHistory? {
    history.map {
      ShownHistory(name: name, wanted: wanted, seconds: $0.seconds, csv: csv, plot: plot, json: json)
    }
  }

  /// Throws for options that don't go together with --history. `others` says for each whether it was given.
  func check(json: Bool, _ others: [(name: String, isGiven: Bool)]) throws {
    guard history != nil else { return }
    if let other = others.first(where: \.isGiven) {
      throw ValidationError("\(other.name) can't be used with --history")
    }
    if csv, json { throw ValidationError("--csv and --json can't be used together") }
  }

  /// The arguments with the usual time behind each `--history` that has none: ArgumentParser knows no options with an
  /// optional value. A word behind it that isn't a time belongs to the command.
  static func completed(_ arguments: [String]) -> [String] {
    var completed: [String] = []
    for (index, word) in arguments.enumerated() {
      if word == "--" { return completed + arguments[index...] }
      completed.append(word)
      guard word == "--history" else { continue }
      let next = index + 1 < arguments.count ? arguments[index + 1] : ""
      if HistoryArgument(argument: next) == nil, !HistoryArgument.looksLikeTime(next) { completed.append("24h") }
    }
    return completed
  }
}

/// The period of the history on the command line: "24h", "90m", "30d", "12mo".
struct HistoryArgument: FormArgument {
  static let form = "a time from 1s to 400d with its unit, like 30m, 24h, 30d or 12mo"
  let seconds: Double

  init?(argument: String) {
    guard let seconds = Self.seconds(argument), (1...34_560_000).contains(seconds) else { return nil }
    self.seconds = seconds
  }

  private static func seconds(_ text: String) -> Double? {
    // A month is a twelfth of 366 days.
    let units: [(suffix: String, seconds: Double)] = [
      ("mo", 2_635_200), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 604_800), ("y", 31_622_400),
    ]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }), text.first?.isNumber == true,
      let count = Double(text.dropLast(unit.suffix.count))
    else { return nil }
    return count * unit.seconds
  }

  /// Whether the user meant a time, maybe one that is too long.
  static func looksLikeTime(_ text: String) -> Bool { seconds(text) != nil }
}
