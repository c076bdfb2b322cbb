// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A state that a service reports to its service manager (sd_notify(3)).
package enum ServiceState: Sendable, Hashable {
  /// The service has started or has reloaded, and now serves.
  case ready
  /// The service reads its configuration again; `ready` follows.
  case reloading
  case stopping
  /// The service is alive.
  case watchdog
  /// What the service is doing, for people: one line. Control characters are escaped.
  case status(String)

  /// The longest status, in Unicode scalars. A message has at most 4096 bytes (systemd's NOTIFY_BUFFER_MAX), and an
  /// escaped scalar at most 10.
  static let statusLimit = 256

  func message(now: MonotonicTime) -> [UInt8] {
    switch self {
    case .ready: Array("READY=1".utf8)
    // The time lets the manager match this message to a reload.
    case .reloading: Array("RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1_000)".utf8)
    case .stopping: Array("STOPPING=1".utf8)
    case .watchdog: Array("WATCHDOG=1".utf8)
    // A newline would begin another assignment.
    case .status(let text): Array("STATUS=\(SafeText.escape(text, limit: Self.statusLimit))".utf8)
    }
  }
}
