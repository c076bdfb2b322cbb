// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers

/// The drivers that the command goes by.
enum KnownDrivers {
  /// Those that come with the package.
  static let library = DriverLibrary.builtIn
}
