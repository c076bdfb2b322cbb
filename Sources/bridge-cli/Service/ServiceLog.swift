// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser
import BridgeService
import CommandOutput
import Glibc
import Logging

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The log on standard error: a line a message, for people with the time, for the journal with the level in front
/// (sd-daemon(3)). Nobody waits until it is read.
struct ServiceLog: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  private let isForJournal: Bool

  private static let writer = LogWriter(STDERR_FILENO) { count in
    line(.warning, "\(count) lines of the log were dropped: standard error was not read", isForJournal: isJournal())
  }

  /// How long the last lines may take at the end.
  private static let patience = Duration.seconds(1)

  /// Gives who reads a moment to take the last lines: for the end of the service.
  static func finish() { writer.finish(within: patience) }

  static func logger(_ level: Logger.Level) -> Logger {
    let isForJournal = isJournal()
    return Logger(label: "bridge-cli") { _ in ServiceLog(logLevel: level, isForJournal: isForJournal) }
  }

  private init(logLevel: Logger.Level, isForJournal: Bool) {
    self.logLevel = logLevel
    self.isForJournal = isForJournal
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    // What devices call themselves is made harmless where it is put in; this is for all the rest.
    let text = SafeText.escape("\(event.message)", limit: 2_000)
    Self.writer.write(Self.line(event.level, text, isForJournal: isForJournal))
  }

  private static func line(_ level: Logger.Level, _ text: String, isForJournal: Bool) -> String {
    if isForJournal { return "<\(priority(level))>\(text)" }
    let style = Style.standardError
    let word = level.rawValue
    let padded = word + String(repeating: " ", count: max(0, "warning".count - word.count))
    return "\(style.dim(WallClock.timeOfDay)) \(level >= .error ? style.red(padded) : padded)  \(text)"
  }

  /// The priority of syslog(3).
  static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }

  /// Whether standard error is the journal's: `JOURNAL_STREAM` says its device and inode (systemd.exec(5)).
  private static func isJournal() -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var file = stat()
    guard fstat(STDERR_FILENO, &file) == 0 else { return false }
    return String(cString: stream) == "\(file.st_dev):\(file.st_ino)"
  }
}
