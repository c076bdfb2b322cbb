// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// Standard input of `connect`. A terminal is in raw mode until `end`, or until the program ends in any way: each key
/// comes at once, and none is interpreted here.
final class ConnectInput: Sendable {
  /// Whether standard input is a terminal.
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

  /// Restores the terminal's settings.
  func end() { if isTerminal { TerminalGuard.restore() } }

  /// The next bytes; nil at the end of the input, or when the task is cancelled.
  func next() async -> [UInt8]? {
    keyboard.resume()
    var iterator = pieces.makeAsyncIterator()
    guard let bytes = await iterator.next(), !bytes.isEmpty else { return nil }
    return bytes
  }
}
