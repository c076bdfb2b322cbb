// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// What is typed for the other side of a connection, or comes from a pipe. A terminal is raw until `end`, whatever ends
/// the program: each key comes at once, and none means anything here.
final class ConnectInput: Sendable {
  /// Whether somebody types.
  let isTerminal: Bool
  private let keyboard: StandardInput
  private let pieces: AsyncStream<[UInt8]>

  init() {
    let (pieces, typed) = AsyncStream<[UInt8]>.makeStream()
    self.pieces = pieces
    keyboard = StandardInput { typed.yield($0) }
    isTerminal = TerminalGuard.begin()
    if isTerminal { TerminalStops.watch() }
  }

  /// Puts the terminal back.
  func end() { if isTerminal { TerminalGuard.restore() } }

  /// The next bytes; nil at the end, or when the task is cancelled.
  func next() async -> [UInt8]? {
    keyboard.resume()
    var iterator = pieces.makeAsyncIterator()
    guard let bytes = await iterator.next(), !bytes.isEmpty else { return nil }
    return bytes
  }
}
