// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc

/// Exit statuses: the numbers of sysexits.h, and those of shells for signals.
package enum ExitStatus {
  /// For wrong use.
  package static let usage = EX_USAGE

  /// For a command that a signal has ended.
  package static func of(signal: CInt) -> CInt { 128 + signal }

  /// For an error of this kind.
  package static func of(_ kind: AccessoryError.Kind) -> CInt { kind.exitStatus }
}
