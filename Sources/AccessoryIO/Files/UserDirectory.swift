// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The user's own directory for files that last as long as the login session.
package enum UserDirectory {
  /// `$XDG_RUNTIME_DIR/accessory-bridge`, or, if that variable isn't set, a directory of the user below the temporary
  /// directory. Creates the directory if needed. Throws `misconfigured` when it belongs to another user or other users
  /// may write to it. `variable` returns the value of an environment variable.
  package static func path(
    _ variable: (String) -> String? = UserDirectory.variable
  ) throws(AccessoryError) -> String {
    if let runtime = variable("XDG_RUNTIME_DIR") {
      let path = runtime + "/accessory-bridge"
      try make(path)
      return path
    }
    let path = (variable("TMPDIR") ?? "/tmp") + "/accessory-bridge-\(geteuid())"
    // Another user may have created it first, and only that user can remove it. Then this user must choose another
    // directory.
    let home = variable("HOME") ?? "~"
    try make(
      path,
      advice: "XDG_RUNTIME_DIR isn't set, so this directory is used; to use another one, set it for all your programs: "
        + "mkdir -p -m 700 \(home)/.accessory-bridge && export XDG_RUNTIME_DIR=\(home)/.accessory-bridge")
    return path
  }

  /// Creates a directory if needed, and checks that only this user can write to it: another user who could would be
  /// able to fake an accessory.
  package static func make(_ path: String, advice: String? = nil) throws(AccessoryError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      let error = Errno(rawValue: errno)
      throw AccessoryError(
        .misconfigured, code: .errno(error.rawValue),
        "the directory \(path) can't be created (\(error)): set XDG_RUNTIME_DIR to a directory of your own")
    }
    var file = stat()
    guard lstat(path, &file) == 0 else {
      throw AccessoryError(.misconfigured, code: .errno(errno), "\(path) can't be read: \(Errno(rawValue: errno))")
    }
    guard file.st_mode & S_IFMT == S_IFDIR, file.st_uid == geteuid(), file.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      let isForeign = file.st_uid != geteuid()
      let owner = isForeign ? ", and belongs to user \(file.st_uid)" : ""
      let usual = isForeign ? "set XDG_RUNTIME_DIR to a directory of your own" : "remove it"
      throw AccessoryError(
        .misconfigured,
        "\(path) must be a directory of your own that nobody else may write to\(owner): "
          + (isForeign ? advice ?? usual : usual))
    }
  }

  /// The value of an environment variable; nil when it is not set, or empty.
  package static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
