// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import FoundationEssentials
import Glibc

/// Standard output and standard error. Every line goes out at once, also into a pipe.
enum Output {
  static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// A text as it is, without a line end.
  static func text(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Bytes as they are.
  static func bytes(_ bytes: [UInt8]) { write(bytes[...], to: STDOUT_FILENO) }

  static func error(_ text: String) {
    write("\(Style.standardError.red("bridge-cli:")) \(SafeText.escape(text, limit: 1_000))\n", to: STDERR_FILENO)
  }

  /// A remark for people, which doesn't belong to the result.
  static func note(_ text: String) { write("\(text)\n", to: STDERR_FILENO) }

  /// One document on one line.
  static func json(_ document: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(document) else { return }
    line(SafeText.escapeJSON(String(decoding: data, as: UTF8.self)))
  }

  /// Whether a descriptor takes something at once.
  static func isReady(_ descriptor: CInt) -> Bool {
    var ready = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
    return poll(&ready, 1, 0) == 1
  }

  private static func write(_ text: String, to descriptor: CInt) { write(Array(text.utf8)[...], to: descriptor) }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) {
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
        // Nobody can be told. The open lines are put back. Without a reader it is the end that SIGPIPE brings, which a
        // thread that has signals blocked doesn't get.
        Glibc.exit(errno == EPIPE ? 128 + SIGPIPE : EX_IOERR)
      }
      bytes = bytes.dropFirst(count)
    }
  }
}
