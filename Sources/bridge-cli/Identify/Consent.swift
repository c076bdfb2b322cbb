// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CommandOutput
import Glibc

/// A person's consent, asked for at the terminal.
enum Consent {
  /// Whether standard input and standard error are terminals, so that a question can be asked.
  static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks; only `y` and `yes` count as consent. Throws `cancelled` when the task is cancelled.
  static func ask(_ question: String) async throws(AccessoryError) -> Bool {
    let answer = try await word(question)?.lowercased()
    return answer == "y" || answer == "yes"
  }

  /// Asks, and returns the first word of the answer; nil when there is none. Throws `cancelled` when the task is cancelled.
  static func word(_ question: String) async throws(AccessoryError) -> String? {
    try await line(question)?.split(whereSeparator: \.isWhitespace).first.map(String.init)
  }

  /// Asks, and returns the answer without the line end; nil at the end of the input. Throws `cancelled` when the task is cancelled.
  static func line(_ question: String) async throws(AccessoryError) -> String? {
    Output.prompt(question)
    let (pieces, typed) = AsyncStream<[UInt8]>.makeStream()
    let keyboard = StandardInput { typed.yield($0) }
    var line: [UInt8] = []
    var iterator = pieces.makeAsyncIterator()
    repeat {
      keyboard.resume()
      guard let bytes = await iterator.next(), !bytes.isEmpty else { break }
      line += bytes
    } while !line.contains(UInt8(ascii: "\n")) && line.count < 256
    if Task.isCancelled {
      Output.note("")
      throw AccessoryError(.cancelled, "nothing was sent")
    }
    if line.last != UInt8(ascii: "\n") { Output.note("") }
    if line.isEmpty { return nil }
    return String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
