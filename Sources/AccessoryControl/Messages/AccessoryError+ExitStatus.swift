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

extension AccessoryError {
  /// No service runs at any of the usual sockets.
  package static let noService = AccessoryError(
    .disconnected,
    "no service is running: start one with bridge-cli serve, or that of the system with systemctl start accessory-bridge"
  )

  /// No service runs at this socket, as connecting has shown.
  static func noService(at path: String, _ errno: CInt) -> AccessoryError {
    AccessoryError(.disconnected, code: .errno(errno), "no service answers at \(path)")
  }

  /// Whether connecting has shown that no service runs there.
  package var isNoService: Bool {
    kind == .disconnected && [ENOENT, ECONNREFUSED, ENOTDIR].contains { code == .errno($0) }
  }
}
