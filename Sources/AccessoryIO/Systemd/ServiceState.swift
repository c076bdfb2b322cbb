// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A state that a service reports to its service manager (sd_notify(3)).
package enum ServiceState: Sendable, Hashable {
  /// It has started, or has reloaded, and serves.
  case ready
  /// It reads its configuration again; `ready` follows.
  case reloading
  /// It ends.
  case stopping
  /// It is alive.
  case watchdog
  /// What it is doing, for people: one line. Control characters are made visible.
  case status(String)

  /// The longest status, in scalars. A message has 4096 bytes at most (systemd's NOTIFY_BUFFER_MAX), and an escaped
  /// scalar up to 10.
  static let statusLimit = 256

  /// The message, at the moment `now`.
  func message(now: MonotonicTime) -> [UInt8] {
    switch self {
    case .ready: Array("READY=1".utf8)
    // The time tells the manager which reload this message belongs to.
    case .reloading: Array("RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1_000)".utf8)
    case .stopping: Array("STOPPING=1".utf8)
    case .watchdog: Array("WATCHDOG=1".utf8)
    // A newline would begin another assignment.
    case .status(let text): Array("STATUS=\(SafeText.escape(text, limit: Self.statusLimit))".utf8)
    }
  }
}
