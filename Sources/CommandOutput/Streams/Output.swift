// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc
import Synchronization

/// A command's standard output and standard error. Each line is written at once, even to a pipe. May be called from any thread. Calls
/// block until the system has accepted everything, except `note`.
package enum Output {
  /// Prints a line of the result.
  package static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// Prints text unchanged, without a line end.
  package static func text(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Prints bytes unchanged.
  package static func bytes(_ bytes: [UInt8]) { write(bytes[...], to: STDOUT_FILENO) }

  /// Notes that had to wait because standard error was full.
  private static let lateNotes = LogWriter(STDERR_FILENO) { count in
    "\(Amount.of(count, "line")) not shown: nobody read standard error"
  }
  /// Whether there were such notes.
  private static let hasLateNotes = Atomic<Bool>(false)
  /// How long the end of the process waits until the last notes are read.
  private static let flushTimeout = Duration.seconds(1)

  /// Prints a note for people on standard error, wrapped between words on a terminal. Never blocks: while nobody reads standard
  /// error, a bounded number of lines is kept, and further lines are dropped and counted.
  package static func note(_ text: String) {
    let columns = TerminalSize.columns(of: STDERR_FILENO)
    let text = columns.map { TextWrap.paragraphs(text, columns: $0) } ?? text
    // A pipe that is ready has room for this many bytes (pipe(7)).
    let isFirst = !hasLateNotes.load(ordering: .relaxed) || lateNotes.isIdle
    if isFirst, text.utf8.count < PIPE_BUF, isReady(STDERR_FILENO) {
      return write("\(text)\n", to: STDERR_FILENO)
    }
    hasLateNotes.store(true, ordering: .relaxed)
    lateNotes.write(text)
  }

  /// Waits up to a second until the last notes are read; for the end of the process.
  package static func finish() {
    if hasLateNotes.load(ordering: .relaxed) { lateNotes.finish(within: flushTimeout) }
  }

  /// Prints text on standard error without a line end: a question, or a line that will be continued.
  package static func prompt(_ text: String) { write(text, to: STDERR_FILENO) }

  /// Prints a document on one line. A document that JSON can't express is skipped.
  package static func json(_ document: some Encodable) {
    if let text = DocumentText.line(document) { line(text) }
  }

  /// The width of the terminal at standard output; nil for other outputs.
  package static var columns: Int? { TerminalSize.columns(of: STDOUT_FILENO) }

  /// Prints a line of the result. On a narrow terminal it is wrapped between words, and the continued lines are
  /// indented by `indent` blanks.
  package static func wrapped(_ text: String, indent: Int) {
    guard let columns else { return line(text) }
    TextWrap.lines(text, columns: columns, indent: indent).forEach(line)
  }

  /// Whether a descriptor accepts output at this moment.
  package static func isReady(_ descriptor: CInt) -> Bool {
    var ready = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
    return poll(&ready, 1, 0) == 1
  }

  private static func write(_ text: String, to descriptor: CInt) { write(Array(text.utf8)[...], to: descriptor) }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) {
    let isTerminal = (descriptor == STDERR_FILENO ? Style.standardError : .standardOutput).isTerminal
    guard isTerminal, let last = bytes.last else { return writeAll(bytes, to: descriptor) }
    WaitingLine.shared.willWrite()
    defer { WaitingLine.shared.didWrite(last) }
    writeAll(bytes, to: descriptor)
  }

  private static func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) {
    var bytes = bytes
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN {
          var ready = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
          poll(&ready, 1, -1)
          continue
        }
        end(errno, of: descriptor)
      }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Ends the program because its output can't be written. `exit` restores the terminal and the serial lines. If the reader is gone,
  /// the exit status is that of SIGPIPE, which a thread with blocked signals doesn't receive.
  private static func end(_ number: CInt, of descriptor: CInt) -> Never {
    if number == EPIPE { Glibc.exit(ExitStatus.of(signal: SIGPIPE)) }
    if descriptor == STDOUT_FILENO {
      let reason = String(cString: strerror(number))
      let program = CommandLine.arguments.first?.split(separator: "/").last ?? "error"
      let text = "\(program): writing standard output: \(reason)\n"
      // Write only once. If standard error fails as well, there is no way to report it.
      _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
    Glibc.exit(EX_IOERR)
  }
}
