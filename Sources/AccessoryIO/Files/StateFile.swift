// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// A file in which a program keeps what it wants to know after its next start, in a folder of its own. All methods block:
/// call them on a queue for that.
package final class StateFile: Sendable {
  /// The folder. It is created if needed, and so are those above it, for this user only.
  package let folder: String
  package let path: String
  private let temporary: String
  /// The lock that keeps other programs from writing the file; nil until it is held.
  private let lock = Locked<FileDescriptor?>(nil)

  package init(_ name: String, in folder: String) {
    (self.folder, path, temporary) = (folder, "\(folder)/\(name)", "\(folder)/\(name).new")
  }

  deinit { if let descriptor = lock.withLock({ $0 }) { _ = Glibc.close(descriptor.rawValue) } }

  /// The folder for a program's state: `$STATE_DIRECTORY`, which systemd sets; otherwise `$XDG_STATE_HOME/NAME`, or
  /// `~/.local/state/NAME`; nil where no variable says it. `variable` returns the value of an environment variable.
  package static func folder(
    of name: String, _ variable: (String) -> String? = { UserDirectory.variable($0) }
  ) -> String? {
    if let folder = variable("STATE_DIRECTORY")?.split(separator: ":").first { return String(folder) }
    // The XDG base directory specification has relative paths ignored.
    if let folder = variable("XDG_STATE_HOME"), folder.hasPrefix("/") { return "\(folder)/\(name)" }
    return variable("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/state/\(name)" : nil }
  }

  /// Creates the folder if needed, and takes the lock. Throws `busy` when another program has it, `misconfigured` when
  /// another user may write to the folder, and otherwise the system's error.
  package func prepare() throws(AccessoryError) {
    if lock.withLock({ $0 != nil }) { return }
    try makeFolder()
    let name = "\(path).lock"
    let opened = Glibc.open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard opened >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(name)") }
    let descriptor = FileDescriptor(rawValue: opened)
    do throws(Errno) {
      try FileLock.take(descriptor)
    } catch {
      _ = Glibc.close(opened)
      if error == .wouldBlock { throw AccessoryError(.busy, "another program keeps its state in \(folder)") }
      throw AccessoryError(errno: error, "locking \(name)")
    }
    lock.withLock { $0 = descriptor }
  }

  private func makeFolder() throws(AccessoryError) {
    var file = stat()
    if lstat(folder, &file) != 0 {
      for end in folder.indices.dropFirst() where folder[end] == "/" { mkdir(String(folder[..<end]), 0o700) }
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
        throw AccessoryError(errno: Errno(rawValue: errno), "making the folder \(folder)")
      }
    }
    // Systemd's folder may be a link, to /var/lib/private.
    guard stat(folder, &file) == 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(folder)") }
    guard file.st_mode & S_IFMT == S_IFDIR, file.st_uid == geteuid(), file.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw AccessoryError(
        .misconfigured, "\(folder) must be a folder of your own that nobody else may write to")
    }
  }

  /// The first `limit` bytes of the file; nil when there is none. Throws `misconfigured` when it is no regular file of this
  /// user, and otherwise the system's error.
  package func read(limit: Int) throws(AccessoryError) -> [UInt8]? {
    let opened = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else {
      if errno == ENOENT { return nil }
      throw AccessoryError(errno: Errno(rawValue: errno), "reading \(path)")
    }
    let descriptor = FileDescriptor(rawValue: opened)
    defer { _ = Glibc.close(opened) }
    try check(opened)
    do throws(Errno) {
      return try SmallFile.read(descriptor, limit: limit)
    } catch {
      throw AccessoryError(errno: error, "reading \(path)")
    }
  }

  /// Adds bytes at the end of the file, all of them or none, and waits until the disk has them. Throws the system's error.
  package func append(_ bytes: [UInt8]) throws(AccessoryError) {
    let opened = Glibc.open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "writing \(path)") }
    defer { _ = Glibc.close(opened) }
    try check(opened)
    var file = stat()
    let size = fstat(opened, &file) == 0 ? file.st_size : -1
    if size >= 0 { Self.reserve(bytes.count, behind: file, opened) }
    do throws(AccessoryError) {
      try Self.write(bytes, to: opened, path)
      // At once: what lies about is written in two of the file system's transactions, some seconds apart.
      if fdatasync(opened) != 0 { throw AccessoryError(errno: Errno(rawValue: errno), "writing \(path)") }
    } catch {
      if size >= 0 { _ = ftruncate(opened, size) }
      throw error
    }
  }

  /// Writes the file as a whole under another name, and renames it: either the old or the new file is there at any time,
  /// also when the power fails. Throws the system's error.
  package func replace(_ bytes: [UInt8]) throws(AccessoryError) {
    unlink(temporary)
    let opened = Glibc.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard opened >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(temporary)") }
    var failure: AccessoryError?
    do throws(AccessoryError) {
      try Self.write(bytes, to: opened, temporary)
      if fdatasync(opened) != 0 { failure = AccessoryError(errno: Errno(rawValue: errno), "writing \(temporary)") }
    } catch {
      failure = error
    }
    _ = Glibc.close(opened)
    if failure == nil, rename(temporary, path) != 0 {
      failure = AccessoryError(errno: Errno(rawValue: errno), "renaming \(temporary)")
    }
    guard let failure else { return }
    unlink(temporary)
    throw failure
  }

  /// The bytes that are reserved at once behind the file's end.
  private static let room = 131_072

  /// Reserves blocks behind the end of the file, which is as `file` says, if `count` bytes more have none. So an SD card isn't told
  /// of the file system's free blocks at each `append`. It is no fault if there is no room for it.
  private static func reserve(_ count: Int, behind file: stat, _ descriptor: CInt) {
    guard Int(file.st_blocks) * 512 < Int(file.st_size) + count else { return }
    _ = shim_reserve(descriptor, file.st_size, count + room)
  }

  private func check(_ descriptor: CInt) throws(AccessoryError) {
    var file = stat()
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_uid == geteuid() else {
      throw AccessoryError(.misconfigured, "\(path) is no regular file of this user: remove it")
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: CInt, _ path: String) throws(AccessoryError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw AccessoryError(errno: count < 0 ? Errno(rawValue: errno) : .noSpace, "writing \(path)")
      }
      rest = rest.dropFirst(count)
    }
  }
}
