// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// The folder with the current user's settings.
package enum ConfigurationFolder {
  /// `$XDG_CONFIG_HOME/accessory-bridge`, or `~/.config/accessory-bridge` where that isn't set; nil when `HOME` isn't set either.
  package static var user: String? { user { name in getenv(name).map { String(cString: $0) } } }

  package static func user(_ variable: (String) -> String?) -> String? {
    // The XDG base directory specification says that relative paths in these variables must be ignored.
    let isAbsolute = { (path: String) in path.hasPrefix("/") }
    let configuration =
      variable("XDG_CONFIG_HOME").flatMap { isAbsolute($0) ? $0 : nil }
      ?? variable("HOME").flatMap { isAbsolute($0) ? $0 + "/.config" : nil }
    return configuration.map { $0 + "/accessory-bridge" }
  }

  /// Replaces or creates a file atomically, and creates missing folders; with `forEverybody` all users may read them. Throws the error of
  /// the system call.
  package static func write(_ bytes: [UInt8], to path: String, forEverybody: Bool = false) throws(Errno) {
    try put(bytes, at: path, forEverybody) { rename($0, $1) == 0 }
  }

  /// Creates a file atomically, and creates missing folders. Throws `fileExists` when the file exists.
  package static func writeNew(_ bytes: [UInt8], to path: String) throws(Errno) {
    try put(bytes, at: path) { temporary, path in
      // `link` fails when the path exists, whereas `rename` would replace the file.
      guard link(temporary, path) == 0 else { return false }
      unlink(temporary)
      return true
    }
  }

  private static func put(
    _ bytes: [UInt8], at path: String, _ forEverybody: Bool = false,
    _ name: (_ temporary: String, _ path: String) -> Bool
  ) throws(Errno) {
    try makeFolder(above: path, forEverybody ? 0o755 : 0o700)
    let temporary = "\(path).\(getpid())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    // fchmod(2), so that the umask has no part in it.
    if forEverybody { fchmod(descriptor, 0o644) }
    let isWritten =
      bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count } && fsync(descriptor) == 0
    let isThere = isWritten && name(temporary, path)
    // Saved here, because `close` and `unlink` may change `errno`.
    let failure = Errno(rawValue: errno)
    close(descriptor)
    guard isThere else {
      unlink(temporary)
      throw failure
    }
  }

  private static func makeFolder(above path: String, _ mode: mode_t) throws(Errno) {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
    let folder = String(path[..<slash])
    if makes(folder, mode) { return }
    guard errno == ENOENT else { throw Errno(rawValue: errno) }
    try makeFolder(above: folder, mode)
    guard makes(folder, mode) else { throw Errno(rawValue: errno) }
  }

  /// Whether the folder is there afterwards. One that is new has this mode, whatever the umask; another one keeps its own.
  private static func makes(_ folder: String, _ mode: mode_t) -> Bool {
    if mkdir(folder, mode) == 0 { return chmod(folder, mode) == 0 }
    return errno == EEXIST
  }
}
