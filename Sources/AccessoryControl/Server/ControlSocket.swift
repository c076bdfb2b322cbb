// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The socket that a server listens on: created at a path, or passed by systemd.
package final class ControlSocket: Sendable {
  let descriptor: FileDescriptor
  /// The path, for people; nil for a passed socket without one.
  package let path: String?
  /// The group whose members may connect.
  let group: UInt32?
  private let made: Made?
  /// Whether the socket was closed, or was handed over to its replacement.
  private let isOver = Locked(false)

  /// The files to remove at the end.
  private struct Made: Sendable {
    let lock: FileDescriptor
    /// The group that was asked for.
    let group: UInt32?
    let file: FileIdentity?
    /// The mode for creating the folder again when it was removed.
    let folderMode: mode_t
  }

  private init(_ descriptor: FileDescriptor, path: String?, group: UInt32?, made: Made?) {
    self.descriptor = descriptor
    self.path = path
    self.group = group
    self.made = made
  }

  /// A socket that another program has created, and will remove.
  init(passed descriptor: FileDescriptor, path: String?, group: UInt32?) {
    (self.descriptor, self.path, self.group, made) = (descriptor, path, group, nil)
  }

  /// Also removes the files of a socket that no server has taken over.
  deinit { release() }

  /// The limit of connections that wait to be accepted.
  private static let backlog: CInt = 128

  // MARK: - At a path

  /// Listens at `path`, for the owner and the members of `group`, a name; without it, of the group that the system
  /// assigns: the folder's or the process's. May block, so not for the I/O thread.
  ///
  /// Replaces the files of a server that was killed. Throws `busy` when a server is running there; `misconfigured` when
  /// another kind of file is there, the path is too long or the group is unknown; and the errors of the system calls.
  package static func make(at path: String, group: String? = nil) throws(AccessoryError) -> ControlSocket {
    guard path.utf8.count <= UnixSocket.longestPath else {
      throw AccessoryError(
        .misconfigured, "the path of the socket is longer than \(UnixSocket.longestPath) bytes: \(path)")
    }
    let identifier = try group.map { name throws(AccessoryError) in try Self.identifier(ofGroup: name) }
    let lock = try takeLock(for: path)
    do throws(AccessoryError) {
      try removeLeftover(at: path)
      return try listen(at: path, group: identifier, lock: lock)
    } catch {
      Socket.close(lock)
      throw error
    }
  }

  private static func identifier(ofGroup name: String) throws(AccessoryError) -> UInt32 {
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 65_536)
    _ = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
    guard found != nil else { throw AccessoryError(.misconfigured, "there is no group \(name)") }
    return entry.gr_gid
  }

  /// The lock decides between servers that start at the same time. Its file stays; the lock ends with its process.
  private static func takeLock(for path: String) throws(AccessoryError) -> FileDescriptor {
    while true {
      let lock = FileDescriptor(rawValue: open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
      guard lock.rawValue >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path).lock") }
      do throws(Errno) {
        try FileLock.take(lock)
      } catch {
        Socket.close(lock)
        throw error == .wouldBlock ? isServed(path) : AccessoryError(errno: error, "locking \(path).lock")
      }
      // If the file was removed in the meantime, another server may have locked a new one.
      if let locked = FileIdentity(lock), locked == FileIdentity(path + ".lock") { return lock }
      Socket.close(lock)
    }
  }

  private static func isServed(_ path: String) -> AccessoryError {
    AccessoryError(.busy, "a service is already running: it answers on \(path)")
  }

  private static func removeLeftover(at path: String) throws(AccessoryError) {
    var file = stat()
    guard lstat(path, &file) == 0 else { return }
    guard file.st_mode & S_IFMT == S_IFSOCK else {
      throw AccessoryError(.misconfigured, "\(path) exists and is not a socket: remove it, or choose another path")
    }
    // A server of another program may be listening without our lock.
    do throws(Errno) {
      let probe = try UnixSocket.create()
      defer { Socket.close(probe) }
      try UnixSocket.connect(probe, to: path)
      throw Errno.wouldBlock
    } catch .connectionRefused {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw AccessoryError(errno: Errno(rawValue: errno), "removing \(path), which a killed server left behind")
      }
    } catch .noSuchFileOrDirectory {
    } catch .wouldBlock {
      throw isServed(path)
    } catch {
      throw AccessoryError(errno: error, "checking for a service on \(path)")
    }
  }

  private static func listen(
    at path: String, group: UInt32?, lock: FileDescriptor
  ) throws(AccessoryError) -> ControlSocket {
    var bound = false
    var socket: FileDescriptor?
    do throws(Errno) {
      let descriptor = try UnixSocket.create()
      socket = descriptor
      try UnixSocket.bind(descriptor, to: path)
      bound = true
      // Nobody can connect before `listen`, so the owner and the mode are set in time.
      if let group, lchown(path, uid_t.max, group) != 0 { throw Errno(rawValue: errno) }
      if chmod(path, 0o660) != 0 { throw Errno(rawValue: errno) }
      var file = stat()
      if lstat(path, &file) != 0 { throw Errno(rawValue: errno) }
      let identity = FileIdentity(path)
      try Socket.listen(descriptor, backlog: backlog)
      var folder = stat()
      let mode = stat(Self.folder(of: path), &folder) == 0 ? folder.st_mode & 0o777 : 0o700
      return ControlSocket(
        descriptor, path: path, group: file.st_gid,
        made: Made(lock: lock, group: group, file: identity, folderMode: mode))
    } catch {
      if bound { unlink(path) }
      if let socket { Socket.close(socket) }
      throw AccessoryError(errno: error, "listening on \(path)")
    }
  }

  // MARK: - Restoring removed files

  /// The folder of a created socket; nil for a passed one.
  var folder: String? { made == nil ? nil : path.map(Self.folder) }

  /// The names of the files in that folder.
  var names: Set<String> {
    let name = path.flatMap { $0.split(separator: "/").last }.map(String.init) ?? ""
    return [name, name + ".lock"]
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Checks the files, and creates missing ones again, the folder included. Returns nil when nothing has changed.
  /// Otherwise the returned socket replaces this one, which is to be retired. Throws as `make` does: `busy` when
  /// another server listens there now. May block.
  func mended() throws(AccessoryError) -> ControlSocket? {
    guard let made, let path else { return nil }
    let (hasLock, hasFile) = (
      FileIdentity(made.lock) == FileIdentity(path + ".lock"), made.file == FileIdentity(path)
    )
    if hasLock, hasFile { return nil }
    mkdir(Self.folder(of: path), made.folderMode)
    let lock = hasLock ? made.lock : try Self.takeLock(for: path)
    do throws(AccessoryError) {
      if hasFile {
        let made = Made(lock: lock, group: made.group, file: made.file, folderMode: made.folderMode)
        return ControlSocket(descriptor, path: path, group: group, made: made)
      }
      try Self.removeLeftover(at: path)
      return try Self.listen(at: path, group: made.group, lock: lock)
    } catch {
      if !hasLock { Socket.close(lock) }
      throw error
    }
  }

  /// Closes what the replacement `other` doesn't reuse.
  func retire(for other: ControlSocket) {
    isOver.withLock { $0 = true }
    if descriptor != other.descriptor { Socket.close(descriptor) }
    if let lock = made?.lock, lock != other.made?.lock {
      FileLock.release(lock)
      Socket.close(lock)
    }
  }

  /// Closes the socket, and removes the files that were created, unless another program has replaced them. The socket
  /// can't be used afterwards.
  func release() {
    let wasOver = isOver.withLock { isOver in
      defer { isOver = true }
      return isOver
    }
    guard !wasOver else { return }
    if let made, let path {
      if let file = made.file, FileIdentity(path) == file { unlink(path) }
    }
    Socket.close(descriptor)
    if let made {
      FileLock.release(made.lock)
      Socket.close(made.lock)
    }
  }
}
