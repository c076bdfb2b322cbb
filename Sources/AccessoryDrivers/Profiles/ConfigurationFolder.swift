// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// The folder in which a user's settings are.
enum ConfigurationFolder {
  /// `$XDG_CONFIG_HOME/accessory-bridge`, or `~/.config/accessory-bridge` where that isn't set; nil where nothing says
  /// where that is.
  static var user: String? { user { name in getenv(name).map { String(cString: $0) } } }

  static func user(_ variable: (String) -> String?) -> String? {
    // A relative path there means nothing, says the XDG base directory specification.
    let isAbsolute = { (path: String) in path.hasPrefix("/") }
    let configuration =
      variable("XDG_CONFIG_HOME").flatMap { isAbsolute($0) ? $0 : nil }
      ?? variable("HOME").flatMap { isAbsolute($0) ? $0 + "/.config" : nil }
    return configuration.map { $0 + "/accessory-bridge" }
  }

  /// Writes a file in place of an old one, or not at all, and makes the folders above it that are missing.
  static func write(_ bytes: [UInt8], to path: String) throws(Errno) {
    try put(bytes, at: path) { rename($0, $1) == 0 }
  }

  /// Writes a file that isn't there yet, or not at all, and makes the folders above it that are missing. Throws `fileExists`
  /// where there is one.
  static func writeNew(_ bytes: [UInt8], to path: String) throws(Errno) {
    try put(bytes, at: path) { temporary, path in
      // A link takes no other file's place, as a new name for the old one would.
      guard link(temporary, path) == 0 else { return false }
      unlink(temporary)
      return true
    }
  }

  private static func put(
    _ bytes: [UInt8], at path: String, _ name: (_ temporary: String, _ path: String) -> Bool
  ) throws(Errno) {
    try makeFolder(above: path)
    let temporary = "\(path).\(getpid())"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    let isWritten =
      bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count } && fsync(descriptor) == 0
    let isThere = isWritten && name(temporary, path)
    // Closing and removing may change it.
    let failure = Errno(rawValue: errno)
    close(descriptor)
    guard isThere else {
      unlink(temporary)
      throw failure
    }
  }

  private static func makeFolder(above path: String) throws(Errno) {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
    let folder = String(path[..<slash])
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT else { throw Errno(rawValue: errno) }
    try makeFolder(above: folder)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
  }
}
