// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// A folder of configuration files. It is read only if no other user can have written to it or its files. The check
/// uses open descriptors, so nobody can exchange a file between the check and the read.
package final class TrustedFolder {
  /// The folder's path with symbolic links resolved.
  package let path: String
  private let descriptor: FileDescriptor
  private let isStrict: Bool

  /// Whether this process serves more users than the one who started it: it runs as root, or as a system user (user ids
  /// below 1000, or 61184 to 65519, which systemd allocates dynamically).
  package static var worksForOthers: Bool { geteuid() < 1_000 || (61_184...65_519).contains(geteuid()) }

  /// Opens a folder; nil when the path doesn't exist.
  ///
  /// With `isStrict`, neither the folder's group nor other users may write to it or to a directory above it, and
  /// symbolic links to files are refused. Without it, the group may write, because many systems give each user a group
  /// of their own. Throws `misconfigured` when another user could have written to the folder, or when it isn't a
  /// directory, and otherwise the error of opening it.
  package init?(_ path: String, isStrict: Bool) throws(AccessoryError) {
    guard let resolved = Glibc.realpath(path, nil) else {
      let error = Errno(rawValue: errno)
      if error == .noSuchFileOrDirectory { return nil }
      throw AccessoryError(errno: error, "the folder \(path) can't be read")
    }
    let followed = String(cString: resolved)
    free(resolved)
    if isStrict { try Self.checkAbove(followed) }
    let descriptor: FileDescriptor
    do throws(Errno) {
      descriptor = try SystemCall.open(followed, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } catch {
      throw AccessoryError(errno: error, "the folder \(path) can't be read")
    }
    var file = stat()
    if fstat(descriptor.rawValue, &file) != 0 || file.st_mode & S_IFMT != S_IFDIR {
      SystemCall.close(descriptor)
      throw AccessoryError(.misconfigured, "\(path) is not a folder")
    }
    if let objection = Self.objection(to: file, isStrict) {
      SystemCall.close(descriptor)
      throw AccessoryError(.misconfigured, "the folder \(path) is not read: \(objection)")
    }
    // This must come last: if an initializer throws after all properties are set, deinit runs too and would close
    // twice.
    (self.path, self.descriptor, self.isStrict) = (followed, descriptor, isStrict)
  }

  deinit { SystemCall.close(descriptor) }

  /// The names in the folder, sorted.
  package var names: [String] { Directory.names(in: path).sorted() }

  /// The first `limit` bytes of a file in the folder. Throws `misconfigured` when another user could have written it or
  /// when it isn't a regular file, and otherwise the error of opening or reading it.
  package func read(_ name: String, limit: Int) throws(AccessoryError) -> [UInt8] {
    let action = "it can't be read"
    let opened = openat(
      descriptor.rawValue, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (isStrict ? O_NOFOLLOW : 0))
    guard opened >= 0 else {
      let error = Errno(rawValue: errno)
      if isStrict, error == .tooManySymbolicLinkLevels {
        throw AccessoryError(
          .misconfigured, "it is a symbolic link; for root and system users links are not followed: copy the file here")
      }
      throw AccessoryError(errno: error, action)
    }
    let file = FileDescriptor(rawValue: opened)
    defer { SystemCall.close(file) }
    var status = stat()
    guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw AccessoryError(.misconfigured, "it is not a regular file")
    }
    if let objection = Self.objection(to: status, isStrict) {
      throw AccessoryError(.misconfigured, "it is not read: \(objection)")
    }
    do {
      return try SmallFile.read(file, limit: limit)
    } catch {
      throw AccessoryError(errno: error, action)
    }
  }

  /// Checks the directories above: a user who may write to one could replace the folder, unless the sticky bit is set.
  private static func checkAbove(_ path: String) throws(AccessoryError) {
    var above = path[...]
    while let slash = above.lastIndex(of: "/"), above != "/" {
      above = slash == above.startIndex ? "/" : above[..<slash]
      var file = stat()
      guard lstat(String(above), &file) == 0 else { continue }
      if file.st_mode & S_ISVTX != 0, isOwn(file) { continue }
      if let objection = objection(to: file, true) {
        throw AccessoryError(
          .misconfigured, "the folder \(path) is not read because of the folder \(above) above it: \(objection)")
      }
    }
  }

  private static func isOwn(_ file: stat) -> Bool { file.st_uid == 0 || file.st_uid == geteuid() }

  /// Why another user could have written the file; nil when none could.
  private static func objection(to file: stat, _ isStrict: Bool) -> String? {
    if !isOwn(file) {
      let who = geteuid() == 0 ? "root" : "root or to the user who runs this program"
      return "it belongs to the user with the ID \(file.st_uid), and must belong to \(who) (chown)"
    }
    if file.st_mode & S_IWOTH != 0 { return "everybody may write to it (chmod o-w)" }
    if isStrict, file.st_mode & S_IWGRP != 0 { return "its group may write to it (chmod g-w)" }
    return nil
  }
}
