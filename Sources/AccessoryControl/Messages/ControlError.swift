// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Why a call has no answer.
package enum ControlError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The service said so.
  case answer(CallError)
  /// An error of the connection: the service isn't there, has closed it, took too long or sent invalid data; or the
  /// caller cancelled.
  case connection(AccessoryError)

  /// The same in the terms of an accessory's error.
  package var accessoryError: AccessoryError {
    switch self {
    case .answer(let error): error.accessoryError
    case .connection(let error): error
    }
  }

  /// For people.
  package var description: String { accessoryError.message }
}
