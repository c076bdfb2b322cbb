// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// Operations on Unix domain sockets (unix(7)).
package enum UnixSocket {
  /// The longest path of a socket, in bytes.
  package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// What is sent on a socket.
  package enum Kind: Sendable, Hashable {
    /// Bytes.
    case stream
    /// Messages.
    case datagram
  }

  /// A new socket, closed on exec.
  package static func create(_ kind: Kind = .stream, blocking: Bool = false) throws(Errno) -> FileDescriptor {
    let type = CInt((kind == .stream ? SOCK_STREAM : SOCK_DGRAM).rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    return FileDescriptor(
      rawValue: try SystemCall.run(.socket) {
        socket(AF_UNIX, blocking ? type : type | CInt(SOCK_NONBLOCK.rawValue), 0)
      })
  }

  /// Binds the socket to `path`, which creates a file.
  package static func bind(_ descriptor: FileDescriptor, to path: String) throws(Errno) {
    try withAddress(of: path) { address, count throws(Errno) in
      _ = try SystemCall.run(.bind, on: descriptor.rawValue) { Glibc.bind(descriptor.rawValue, address, count) }
    }
  }

  /// Connects to the socket at `path`. Throws `ECONNREFUSED` when no program listens there, and `EAGAIN` when its
  /// backlog is full: at once, or for a blocking socket after its send timeout.
  package static func connect(_ descriptor: FileDescriptor, to path: String) throws(Errno) {
    try withAddress(of: path) { address, count throws(Errno) in
      _ = try SystemCall.run(.connect, on: descriptor.rawValue) { Glibc.connect(descriptor.rawValue, address, count) }
    }
  }

  /// A socket connected to the one at `path`. While its backlog is full this blocks, for up to `limit`; then it throws
  /// `EAGAIN`. Otherwise throws as `connect`.
  package static func connected(to path: String, within limit: Duration) throws(Errno) -> FileDescriptor {
    let descriptor = try create(blocking: true)
    do throws(Errno) {
      try Socket.limitSending(descriptor, to: limit)
      try connect(descriptor, to: path)
    } catch {
      Socket.close(descriptor)
      throw error
    }
    Socket.adopt(descriptor)
    return descriptor
  }

  /// Connects to a socket with an abstract address: a name that is no path.
  package static func connect(_ descriptor: FileDescriptor, toAbstract name: [UInt8]) throws(Errno) {
    try withAddress(bytes: [0] + name, isPath: false) { address, count throws(Errno) in
      _ = try SystemCall.run(.connect, on: descriptor.rawValue) { Glibc.connect(descriptor.rawValue, address, count) }
    }
  }

  /// True for a stream socket of this kind that listens.
  package static func isListening(_ descriptor: FileDescriptor) -> Bool {
    Socket.option(SO_DOMAIN, of: descriptor) == AF_UNIX
      && Socket.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue)
      && Socket.option(SO_ACCEPTCONN, of: descriptor) == 1
  }

  /// The path that a socket is bound to; nil when it has none.
  package static func path(of descriptor: FileDescriptor) -> String? {
    var address = sockaddr_un()
    var count = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = try? withUnsafeMutablePointer(to: &address) { pointer throws(Errno) in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(Errno) in
        try SystemCall.run(.getsockname, on: descriptor.rawValue) { getsockname(descriptor.rawValue, pointer, &count) }
      }
    }
    guard result == 0, Int(count) > MemoryLayout<sa_family_t>.size else { return nil }
    let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix(Int(count) - MemoryLayout<sa_family_t>.size)) }
    guard let first = bytes.first, first != 0 else { return nil }  // an abstract one has no file
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Void
  ) throws(Errno) {
    let bytes = Array(path.utf8)
    guard bytes.count <= longestPath else { throw .fileNameTooLong }
    guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
    try withAddress(bytes: bytes, isPath: true, body)
  }

  /// The length of an abstract address is a part of it; a path ends with a zero.
  private static func withAddress(
    bytes: [UInt8], isPath: Bool, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Void
  ) throws(Errno) {
    var address = sockaddr_un()
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let count = isPath ? MemoryLayout<sockaddr_un>.size : MemoryLayout<sa_family_t>.size + bytes.count
    try withUnsafePointer(to: &address) { pointer throws(Errno) in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(Errno) in
        try body(pointer, socklen_t(count))
      }
    }
  }
}

// MARK: - Who is there

/// The process at the other end of a socket, as it was when the connection was made.
package struct SocketPeer: Sendable, Hashable {
  /// Its number; 0 when it is outside of this process' namespace.
  package var process: Int32
  /// Its user.
  package var user: UInt32
  /// Its groups.
  package var groups: Set<UInt32>

  /// A process of these.
  package init(process: Int32, user: UInt32, groups: Set<UInt32>) {
    self.process = process
    self.user = user
    self.groups = groups
  }
}

extension UnixSocket {
  /// The process at the other end of `descriptor`.
  package static func peer(of descriptor: FileDescriptor) throws(Errno) -> SocketPeer {
    var credentials = shim_ucred()
    var count = socklen_t(MemoryLayout<shim_ucred>.size)
    _ = try SystemCall.run(.getsockopt, on: descriptor.rawValue) {
      getsockopt(descriptor.rawValue, SOL_SOCKET, SHIM_SO_PEERCRED, &credentials, &count)
    }
    // NGROUPS_MAX of Linux; kernels before 4.13 don't tell the groups beside the first.
    var groups = [UInt32](repeating: 0, count: 65_536)
    count = socklen_t(groups.count * MemoryLayout<UInt32>.size)
    let result = try? SystemCall.run(.getsockopt, on: descriptor.rawValue) {
      getsockopt(descriptor.rawValue, SOL_SOCKET, SHIM_SO_PEERGROUPS, &groups, &count)
    }
    let others = result == 0 ? groups.prefix(Int(count) / MemoryLayout<UInt32>.size) : []
    return SocketPeer(process: credentials.pid, user: credentials.uid, groups: Set(others).union([credentials.gid]))
  }
}
