// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser
import Glibc
import Logging

/// Levels of a log are options.
extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The log of a service, one line per message: on standard error with the time for people, or with the level for the
/// journal (sd-daemon(3)); on standard output as JSON. Writing never blocks.
package struct ServiceLog: LogHandler {
  enum Form: Sendable {
    case people, journal, documents
  }

  /// The least important level that is logged.
  package var logLevel: Logger.Level
  /// The logger's metadata, which isn't printed.
  package var metadata: Logger.Metadata = [:]
  private let form: Form

  private static let errors = LogWriter(STDERR_FILENO) { count in
    line(.warning, dropped(count, "standard error"), isJournal() ? .journal : .people)
  }
  private static let output = LogWriter(STDOUT_FILENO) { count in
    line(.warning, dropped(count, "standard output"), .documents)
  }

  private static func dropped(_ count: Int, _ place: String) -> String {
    "\(Amount.of(count, "line")) of the log \(count == 1 ? "was" : "were") dropped: nobody read \(place)"
  }

  /// How long the end of the service waits until the last lines are read.
  private static let flushTimeout = Duration.seconds(1)

  /// Waits up to a second until the last lines are read; for the end of the service.
  package static func finish() {
    errors.finish(within: flushTimeout)
    output.finish(within: flushTimeout)
  }

  /// A logger; it writes JSON to standard output if `json`. `label` is the program's name.
  package static func logger(_ label: String, _ level: Logger.Level, json: Bool) -> Logger {
    let form: Form = json ? .documents : isJournal() ? .journal : .people
    return Logger(label: label) { _ in ServiceLog(logLevel: level, form: form) }
  }

  /// Writes a document between the log's documents.
  package static func tell(_ document: some Encodable) {
    if let line = DocumentText.line(document) { output.write(line) }
  }

  private init(logLevel: Logger.Level, form: Form) {
    self.logLevel = logLevel
    self.form = form
  }

  /// One entry of the metadata.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes a message.
  package func log(event: LogEvent) {
    // Texts of devices are escaped where a message is composed. This escapes the rest.
    let text = SafeText.escape("\(event.message)", limit: 2_000)
    (form == .documents ? Self.output : Self.errors).write(Self.line(event.level, text, form))
  }

  private static func line(_ level: Logger.Level, _ text: String, _ form: Form) -> String {
    switch form {
    case .documents: return DocumentText.line(LogDocument(level: level.rawValue, message: text)) ?? ""
    case .journal: return "<\(priority(level))>\(text)"
    case .people: break
    }
    let style = Style.standardError
    let word = level.rawValue
    let padded = word + String(repeating: " ", count: max(0, "warning".count - word.count))
    return "\(style.dim(WallClock.timeOfDay)) \(level >= .error ? style.red(padded) : padded)  \(text)"
  }

  /// The priority in syslog(3).
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

  /// Whether standard error is connected to the journal: `JOURNAL_STREAM` contains its device and inode
  /// (systemd.exec(5)).
  private static func isJournal() -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var file = stat()
    guard fstat(STDERR_FILENO, &file) == 0 else { return false }
    return String(cString: stream) == "\(file.st_dev):\(file.st_ino)"
  }
}

/// A message of the service's log.
struct LogDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.log
  let event = "log"
  let time = WallClock.seconds
  let level, message: String
}
