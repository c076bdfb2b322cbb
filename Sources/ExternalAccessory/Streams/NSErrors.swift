// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc

extension NSError {
  /// The error in Foundation's form: in the POSIX domain, with the errno where there is one and otherwise the nearest
  /// number; with the message for people, and with the original as the underlying error.
  convenience init(_ error: AccessoryError) {
    let code: CInt =
      if case .errno(let number)? = error.code {
        number
      } else {
        switch error.kind {
        case .disconnected: ENODEV
        case .busy: EBUSY
        case .permissionDenied: EACCES
        case .notFound: ENOENT
        case .timedOut: ETIMEDOUT
        case .cancelled: ECANCELED
        case .refused: ECONNREFUSED
        case .badData: EBADMSG
        case .unsupported: ENOTSUP
        case .misconfigured: EINVAL
        case .ioFailure: EIO
        }
      }
    self.init(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [NSLocalizedDescriptionKey: error.message, NSUnderlyingErrorKey: error])
  }
}
