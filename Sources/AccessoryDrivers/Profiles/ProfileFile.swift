// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The profile files of the current user.
public enum ProfileFile {
  /// The folder for the user's new profiles: the last of the usual folders, unless that is in /etc. Nil when neither
  /// `HOME` nor `XDG_CONFIG_HOME` is set.
  public static var folder: String? { ProfileLibrary.usualFolders().last.flatMap { $0.hasPrefix("/etc/") ? nil : $0 } }

  /// The path of the file for a new profile with this name; nil when there is no folder.
  public static func path(_ name: String) -> String? { folder.map { "\($0)/\(name).yaml" } }

  /// Writes a new profile atomically; never replaces a file. Throws `misconfigured` when the file exists or there is no
  /// folder, and the error of the system call, such as `permissionDenied`, when it can't be written. Blocks.
  public static func write(_ text: String, name: String) throws(AccessoryError) {
    guard let path = path(name) else {
      throw AccessoryError(.misconfigured, "the folder of profiles is unknown: set HOME or XDG_CONFIG_HOME")
    }
    do throws(Errno) {
      try ConfigurationFolder.writeNew(Array(text.utf8), to: path)
    } catch .fileExists {
      throw exists(path)
    } catch {
      throw AccessoryError(errno: error, "writing \(path)")
    }
  }

  /// Throws `misconfigured` if the file for a profile with this name exists. Blocks.
  public static func checkIsNew(_ name: String) throws(AccessoryError) {
    if let path = path(name), access(path, F_OK) == 0 { throw exists(path) }
  }

  private static func exists(_ path: String) -> AccessoryError {
    AccessoryError(
      .misconfigured, code: .errno(EEXIST),
      "the profile \(path) already exists and was not changed: choose another --name")
  }
}
