// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The file of a listening Unix socket that this process created.
struct SocketFile: Sendable {
  private let path: String
  private let device: dev_t
  private let node: ino_t

  /// The most connections that may wait to be accepted.
  private static let backlog: CInt = 64

  /// Creates the file and listens. Throws the same errors as `ConnectionListener.listen(unix:)`. May block.
  static func listen(at path: String, mode: UInt16) throws(AccessoryError) -> (FileDescriptor, SocketFile) {
    guard path.utf8.count <= UnixSocket.longestPath else {
      throw AccessoryError(
        .misconfigured, "the path of the socket is longer than \(UnixSocket.longestPath) bytes: \(path)")
    }
    try removeLeftover(at: path)
    var opened: FileDescriptor?
    do throws(Errno) {
      let descriptor = try UnixSocket.create()
      opened = descriptor
      // Until chmod, the file has the mode that the umask gives it. No client can connect before listen(2).
      try UnixSocket.bind(descriptor, to: path)
      if chmod(path, mode_t(mode)) != 0 { throw Errno(rawValue: errno) }
      var file = stat()
      if lstat(path, &file) != 0 { throw Errno(rawValue: errno) }
      try Socket.listen(descriptor, backlog: backlog)
      return (descriptor, SocketFile(path: path, device: file.st_dev, node: file.st_ino))
    } catch {
      if let opened { Socket.close(opened) }
      throw AccessoryError(errno: error, "listening at \(DeviceAddress.unix(path))")
    }
  }

  /// Removes the file, unless another file has replaced it.
  func remove() {
    var file = stat()
    if lstat(path, &file) == 0, file.st_dev == device, file.st_ino == node { unlink(path) }
  }

  private static func removeLeftover(at path: String) throws(AccessoryError) {
    var file = stat()
    guard lstat(path, &file) == 0 else { return }
    guard file.st_mode & S_IFMT == S_IFSOCK else {
      throw AccessoryError(.misconfigured, "\(path) exists and is not a socket: choose another path")
    }
    do throws(Errno) {
      let probe = try UnixSocket.create()
      defer { Socket.close(probe) }
      try UnixSocket.connect(probe, to: path)
    } catch .connectionRefused {
      unlink(path)
      return
    } catch .noSuchFileOrDirectory {
      return
    } catch .wouldBlock {
    } catch {
      throw AccessoryError(errno: error, "checking for a listener at \(DeviceAddress.unix(path))")
    }
    throw AccessoryError(
      .busy, "another program listens at \(DeviceAddress.unix(path)): end it, or choose another path")
  }
}
