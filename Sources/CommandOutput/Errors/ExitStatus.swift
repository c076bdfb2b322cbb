// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc

/// Exit statuses: the numbers of sysexits.h, and those of shells for signals.
package enum ExitStatus {
  /// What each status of the commands means, for their help and the page on JSON.
  package static let meanings: [(status: CInt, meaning: String)] = [
    (EX_OK, "success"),
    (EX_USAGE, "wrong usage"),
    (EX_DATAERR, "invalid data from the device"),
    (EX_NOINPUT, "no such device or file"),
    (EX_UNAVAILABLE, "disconnected, busy, not running or unavailable"),
    (EX_SOFTWARE, "internal error"),
    (EX_CANTCREAT, "a file exists already"),
    (EX_IOERR, "I/O error"),
    (EX_TEMPFAIL, "no reply in time"),
    (EX_PROTOCOL, "refused by the device"),
    (EX_NOPERM, "no permission"),
    (EX_CONFIG, "wrong configuration"),
    (of(signal: SIGINT), "interrupted"),
  ]

  /// The section of the help that lists the statuses. It is made at each start, so by loops: those of collections take longer, as their
  /// types are made first.
  package static let help: String = {
    var text = "EXIT STATUS"
    for (status, meaning) in meanings {
      let number = String(status)
      text += "\n  " + number
      for _ in number.utf8.count..<4 { text += " " }
      text += meaning
    }
    return text
  }()

  /// For incorrect use of a command.
  package static let usage = EX_USAGE

  /// For a command that was ended by a signal.
  package static func of(signal: CInt) -> CInt { 128 + signal }

  package static func of(_ kind: AccessoryError.Kind) -> CInt { kind.exitStatus }
}
