// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Why a call has failed.
package enum ControlError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The service has replied with an error.
  case answer(CallError)
  /// The connection has failed: the service isn't there, has closed it, took too long or has sent invalid data; or the
  /// caller has cancelled.
  case connection(AccessoryError)

  /// The error converted to an `AccessoryError`.
  package var accessoryError: AccessoryError {
    switch self {
    case .answer(let error): error.accessoryError
    case .connection(let error): error
    }
  }

  /// The error as text for people.
  package var description: String { accessoryError.message }
}
