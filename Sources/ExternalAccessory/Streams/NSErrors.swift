// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc

extension NSError {
  /// The error in Foundation's form: in the POSIX domain, with the message for people, and with the original as the
  /// underlying error. An accessory that is gone is always ENODEV, whatever the error of the layer below: EIO from a
  /// terminal, ECONNRESET from a connection. Any other error has its errno, or the nearest one.
  convenience init(_ error: AccessoryError) {
    let code: CInt =
      switch (error.kind, error.code) {
      case (.disconnected, _): ENODEV
      case (_, .errno(let number)?): number
      case (.busy, _): EBUSY
      case (.permissionDenied, _): EACCES
      case (.notFound, _): ENOENT
      case (.timedOut, _): ETIMEDOUT
      case (.cancelled, _): ECANCELED
      case (.refused, _): ECONNREFUSED
      case (.badData, _): EBADMSG
      case (.unsupported, _): ENOTSUP
      case (.misconfigured, _): EINVAL
      case (.ioFailure, _): EIO
      }
    self.init(
      domain: NSPOSIXErrorDomain, code: Int(code),
      userInfo: [NSLocalizedDescriptionKey: error.message, NSUnderlyingErrorKey: error])
  }
}
