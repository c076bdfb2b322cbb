// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// Standard input, byte by byte as it is typed where it is a terminal: nothing is echoed, and no key means anything,
/// until `restore`.
final class RawInput: Sendable {
  /// Whether somebody types.
  let isTerminal: Bool
  private let settings: Locked<termios?>
  /// Reading blocks.
  private let queue = SetupQueue(label: "standard input")

  init() {
    var before = termios()
    isTerminal = tcgetattr(STDIN_FILENO, &before) == 0
    settings = Locked(nil)
    guard isTerminal else { return }
    var raw = before
    cfmakeraw(&raw)
    // What is shown keeps its line ends.
    raw.c_oflag = before.c_oflag
    let saved = before
    settings.withLock { $0 = saved }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
  }

  deinit { restore() }

  /// Puts the terminal back. May be called again.
  func restore() {
    let saved = settings.withLock { settings in
      defer { settings = nil }
      return settings
    }
    if var saved { tcsetattr(STDIN_FILENO, TCSADRAIN, &saved) }
  }

  /// The next bytes; nil at the end. Waits in a thread of its own, which nothing but the end of the process stops.
  func next() async -> [UInt8]? {
    await queue.run { () -> [UInt8]? in
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while true {
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count > 0 { return Array(buffer[..<count]) }
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN {
          var ready = pollfd(fd: STDIN_FILENO, events: CShort(POLLIN), revents: 0)
          poll(&ready, 1, -1)
          continue
        }
        return nil
      }
    }
  }
}
