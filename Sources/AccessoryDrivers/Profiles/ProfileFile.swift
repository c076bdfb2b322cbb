// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The user's own profile files.
public enum ProfileFile {
  /// The folder in which new profiles of this user are written: the last of those that are read. Nil where nothing says
  /// where that is.
  public static var folder: String? { ProfileLibrary.usualFolders().last.flatMap { $0.hasPrefix("/etc/") ? nil : $0 } }

  /// The file that a new profile of this name would have.
  public static func path(_ name: String) -> String? { folder.map { "\($0)/\(name).yaml" } }

  /// Writes a new profile, all or nothing; never over a file that is there. Throws `misconfigured` where there is one, or
  /// nothing says where profiles are, and `permissionDenied` and the like where it can't be written. Blocks.
  public static func write(_ text: String, name: String) throws(AccessoryError) {
    guard let path = path(name) else {
      throw AccessoryError(.misconfigured, "nothing says where profiles are kept: set HOME or XDG_CONFIG_HOME")
    }
    do throws(Errno) {
      try ConfigurationFolder.writeNew(Array(text.utf8), to: path)
    } catch .fileExists {
      throw exists(path)
    } catch {
      throw AccessoryError(errno: error, "writing \(path)")
    }
  }

  /// Throws `misconfigured` if there is a file for a profile of this name. Blocks.
  public static func checkIsNew(_ name: String) throws(AccessoryError) {
    if let path = path(name), access(path, F_OK) == 0 { throw exists(path) }
  }

  private static func exists(_ path: String) -> AccessoryError {
    AccessoryError(
      .misconfigured, code: .errno(EEXIST), "there is a profile \(path), which is left as it is: say another --name")
  }
}
