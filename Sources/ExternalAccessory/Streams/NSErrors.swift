// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc

extension NSError {
  /// The error as Foundation's clients know errors: the kernel's number in POSIX's domain where there is one, otherwise
  /// the number that comes nearest; the sentence for people; and the error itself beneath.
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
