// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// What commands end with: the numbers of sysexits.h, and of shells for signals.
package enum ExitStatus {
  /// Of a command that was used wrongly.
  package static let usage = EX_USAGE

  /// Of a command that a signal ended.
  package static func of(signal: CInt) -> CInt { 128 + signal }

  /// Of a command that an error of this kind ended.
  package static func of(_ kind: AccessoryError.Kind) -> CInt {
    switch kind {
    case .disconnected, .busy, .cancelled, .unsupported: EX_UNAVAILABLE
    case .permissionDenied: EX_NOPERM
    case .notFound: EX_NOINPUT
    case .timedOut: EX_TEMPFAIL
    case .refused: EX_PROTOCOL
    case .badData: EX_DATAERR
    case .misconfigured: EX_CONFIG
    case .ioFailure: EX_IOERR
    }
  }
}
