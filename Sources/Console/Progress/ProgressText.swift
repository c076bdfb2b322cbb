// SPDX-License-Identifier: Apache-2.0

/// The progress of a transfer, as one line that fits a terminal.
package enum ProgressText {
  private static let longestBar = 30
  private static let shortestBar = 8

  /// For example "██████░░░░ 57 % 5.7 of 10.0 MB 1.2 MB/s 4 s left". Parts without room are left out, the least
  /// important first.
  package static func line(
    done: Int, total: Int, rate: Double? = nil, timeLeft: Duration? = nil, columns: Int
  ) -> String {
    let percent = percent(done, total)
    var parts = ["\(percent) %"]
    var width = parts[0].count
    for part in [
      amounts(done, total), timeLeft.map { time($0) + " left" }, rate.map { bytes(whole($0)) + "/s" },
    ].compactMap({ $0 }) {
      guard width + 2 + part.count < columns else { break }
      parts.append(part)
      width += 2 + part.count
    }
    // The rate reads better before the time that is left.
    if parts.count == 4 { parts.swapAt(2, 3) }
    let text = parts.joined(separator: "  ")
    let room = min(longestBar, columns - width - 3)
    return room >= shortestBar ? bar(percent, width: room) + "  " + text : text
  }

  /// The number rounded down, limited to the range of Int.
  private static func whole(_ number: Double) -> Int { Int(exactly: number.rounded(.down)) ?? (number > 0 ? .max : 0) }

  /// Whole percents, rounded down, so that 100 means complete. An empty transfer is complete.
  package static func percent(_ done: Int, _ total: Int) -> Int {
    total > 0 ? Int(min(100, Double(max(0, done)) * 100 / Double(total))) : 100
  }

  private static func bar(_ percent: Int, width: Int) -> String {
    let filled = percent * width / 100
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }

  private static func amounts(_ done: Int, _ total: Int) -> String {
    let unit = unit(total)
    return "\(number(done, unit)) of \(number(total, unit)) \(unit.name)"
  }

  /// For example "512 B", "1.2 kB", "10.0 MB": decimal units.
  package static func bytes(_ count: Int) -> String {
    let unit = unit(count)
    return "\(number(count, unit)) \(unit.name)"
  }

  /// For example "4 s", "2 min 05 s", "1 h 03 min".
  package static func time(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds + (duration.components.attoseconds > 0 ? 1 : 0))
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return "\(seconds / 60) min \(twoDigits(seconds % 60)) s" }
    return "\(seconds / 3_600) h \(twoDigits(seconds / 60 % 60)) min"
  }

  private static func twoDigits(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }

  private static func unit(_ count: Int) -> (name: String, size: Int) {
    switch count {
    case ..<1_000: ("B", 1)
    case ..<1_000_000: ("kB", 1_000)
    case ..<1_000_000_000: ("MB", 1_000_000)
    default: ("GB", 1_000_000_000)
    }
  }

  private static func number(_ count: Int, _ unit: (name: String, size: Int)) -> String {
    if unit.size == 1 { return "\(count)" }
    let tenths = count / (unit.size / 10)
    return "\(tenths / 10).\(tenths % 10)"
  }
}
