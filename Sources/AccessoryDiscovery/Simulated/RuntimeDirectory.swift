// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The user's own directory for files that last as long as the login session.
public enum RuntimeDirectory {
  /// `$XDG_RUNTIME_DIR/accessory-bridge`, or, if that variable isn't set, a directory of the user below the temporary
  /// directory. Creates the directory if needed. Throws `misconfigured` when it belongs to another user or other users
  /// may write to it.
  public static func path() throws(AccessoryError) -> String { try UserDirectory.path() }

  static func path(_ variable: (String) -> String?) throws(AccessoryError) -> String {
    try UserDirectory.path(variable)
  }

  /// The directory in which simulators announce themselves. Creates it if needed. Throws the errors of `path()`.
  public static func simulated() throws(AccessoryError) -> String {
    let path = try path() + "/simulated"
    try UserDirectory.make(path)
    return path
  }
}
