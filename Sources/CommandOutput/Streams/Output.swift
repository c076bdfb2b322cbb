// SPDX-License-Identifier: Apache-2.0

import Console
import Glibc

/// A command's standard output and standard error. Every line goes out at once, also into a pipe. Any thread may write;
/// the call returns when the system has taken everything.
package enum Output {
  /// A line of the result.
  package static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// A text as it is, without a line end.
  package static func text(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Bytes as they are.
  package static func bytes(_ bytes: [UInt8]) { write(bytes[...], to: STDOUT_FILENO) }

  /// A remark for people, which doesn't belong to the result.
  package static func note(_ text: String) { write("\(text)\n", to: STDERR_FILENO) }

  /// The same without a line end: a question, or a line that goes on.
  package static func prompt(_ text: String) { write(text, to: STDERR_FILENO) }

  /// One document on one line. A document that JSON has no text for is passed over.
  package static func json(_ document: some Encodable) {
    if let text = DocumentText.line(document) { line(text) }
  }

  /// The columns of the terminal at standard output; nil where that is something else.
  package static var columns: Int? { TerminalSize.columns(of: STDOUT_FILENO) }

  /// A line of the result; broken between words where the terminal is narrower. All but the first begin with `indent` blanks.
  package static func wrapped(_ text: String, indent: Int) {
    guard let columns else { return line(text) }
    TextWrap.lines(text, columns: columns, indent: indent).forEach(line)
  }

  /// Whether a descriptor takes something at once.
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

  /// Ends the program, as its output can't be written; the open lines are put back. Without a reader it is the end that
  /// SIGPIPE brings, which a thread that has signals blocked doesn't get.
  private static func end(_ number: CInt, of descriptor: CInt) -> Never {
    if number == EPIPE { Glibc.exit(ExitStatus.of(signal: SIGPIPE)) }
    if descriptor == STDOUT_FILENO {
      let reason = String(cString: strerror(number))
      let program = CommandLine.arguments.first?.split(separator: "/").last ?? "error"
      let text = "\(program): writing standard output: \(reason)\n"
      // Once: who can't be told of that either is told nothing.
      _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
    Glibc.exit(EX_IOERR)
  }
}
