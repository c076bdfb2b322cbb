// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// How far a transfer is, on one line of a terminal; nothing where nobody looks.
final class ProgressBar: Sendable {
  private let isShown: Bool
  private let shown = Locked(-1)
  private static let width = 30

  init(isShown: Bool) { self.isShown = isShown && Style.standardError.isTerminal }

  /// Draws, when it differs from what is there.
  func show(_ done: Int, _ total: Int) {
    guard isShown else { return }
    let percent = total > 0 ? min(100, done * 100 / total) : 100
    let isNew = shown.withLock { shown in
      defer { shown = percent }
      return shown != percent
    }
    guard isNew else { return }
    let filled = percent * Self.width / 100
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
    write("\r\(bar) \(percent) %  \(done) of \(total) bytes ")
  }

  /// Makes place for other lines.
  func clear() {
    guard isShown, shown.withLock({ $0 >= 0 }) else { return }
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    // What a terminal doesn't take of this is no loss.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
