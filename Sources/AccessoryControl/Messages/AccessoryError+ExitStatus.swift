// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

extension AccessoryError.Kind {
  /// The exit status of a command that ends with an error of this kind: a number of sysexits.h.
  package var exitStatus: CInt {
    switch self {
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
