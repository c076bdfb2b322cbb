// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc

/// Exit statuses: the numbers of sysexits.h, and those of shells for signals.
package enum ExitStatus {
  /// For incorrect use of a command.
  package static let usage = EX_USAGE

  /// For a command that was ended by a signal.
  package static func of(signal: CInt) -> CInt { 128 + signal }

  /// For an error of this kind.
  package static func of(_ kind: AccessoryError.Kind) -> CInt { kind.exitStatus }
}
