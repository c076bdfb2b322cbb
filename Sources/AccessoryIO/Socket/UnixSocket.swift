// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// Operations on Unix domain sockets (unix(7)).
package enum UnixSocket {
  /// The longest path of a Unix socket, in bytes.
  package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// The type of a socket.
  package enum Kind: Sendable, Hashable {
    /// A byte stream (SOCK_STREAM).
    case stream
    /// Separate messages (SOCK_DGRAM).
    case datagram
  }

  /// A new socket that closes on exec.
  package static func create(_ kind: Kind = .stream, blocking: Bool = false) throws(Errno) -> FileDescriptor {
    let type = CInt((kind == .stream ? SOCK_STREAM : SOCK_DGRAM).rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    return FileDescriptor(
      rawValue: try SystemCall.run(.socket) {
        socket(AF_UNIX, blocking ? type : type | CInt(SOCK_NONBLOCK.rawValue), 0)
      })
  }

  /// Two stream sockets that are connected to each other; neither blocks, both close on exec.
  package static func pair() throws(Errno) -> (FileDescriptor, FileDescriptor) {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    _ = try SystemCall.run(.socket) { socketpair(AF_UNIX, kind, 0, &ends) }
    return (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
  }

  /// Binds the socket to `path`, which creates a socket file.
  package static func bind(_ descriptor: FileDescriptor, to path: String) throws(Errno) {
    try withAddress(of: path) { address, count throws(Errno) in
      _ = try SystemCall.run(.bind, on: descriptor.rawValue) { Glibc.bind(descriptor.rawValue, address, count) }
    }
  }

  /// Connects to the socket at `path`. Throws `ECONNREFUSED` when no program listens there, and `EAGAIN` when its
  /// backlog is full: at once on a non-blocking socket, after the send timeout on a blocking one.
  package static func connect(_ descriptor: FileDescriptor, to path: String) throws(Errno) {
    try withAddress(of: path) { address, count throws(Errno) in
      _ = try SystemCall.run(.connect, on: descriptor.rawValue) { Glibc.connect(descriptor.rawValue, address, count) }
    }
  }

  /// A new socket that is connected to the one at `path`. Blocks for up to `limit` while the backlog there is full, and
  /// then throws `EAGAIN`. Otherwise throws the same errors as `connect`.
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

  /// Connects to a socket with an abstract address (unix(7)), which has a name and no file.
  package static func connect(_ descriptor: FileDescriptor, toAbstract name: [UInt8]) throws(Errno) {
    try withAddress(bytes: [0] + name, isPath: false) { address, count throws(Errno) in
      _ = try SystemCall.run(.connect, on: descriptor.rawValue) { Glibc.connect(descriptor.rawValue, address, count) }
    }
  }

  /// True for a listening Unix stream socket.
  package static func isListening(_ descriptor: FileDescriptor) -> Bool {
    Socket.option(SO_DOMAIN, of: descriptor) == AF_UNIX
      && Socket.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue)
      && Socket.option(SO_ACCEPTCONN, of: descriptor) == 1
  }

  /// The path that a socket is bound to; nil when it has no path.
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
    guard let first = bytes.first, first != 0 else { return nil }  // an abstract address, which has no file
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

  /// The length of an abstract address is part of the address. A path ends with a zero byte.
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

// MARK: - The peer

/// The process at the other end of a Unix socket, with its credentials at the time of the connection.
package struct SocketPeer: Sendable, Hashable {
  /// The process id; 0 when the process is outside of this process's pid namespace.
  package var process: Int32
  /// The effective user id.
  package var user: UInt32
  /// The effective group id and the supplementary groups.
  package var groups: Set<UInt32>

  /// A peer with these credentials.
  package init(process: Int32, user: UInt32, groups: Set<UInt32>) {
    self.process = process
    self.user = user
    self.groups = groups
  }
}

extension UnixSocket {
  /// The process at the other end of `descriptor`. Throws the errno of getsockopt(2).
  package static func peer(of descriptor: FileDescriptor) throws(Errno) -> SocketPeer {
    var credentials = shim_ucred()
    var count = socklen_t(MemoryLayout<shim_ucred>.size)
    _ = try SystemCall.run(.getsockopt, on: descriptor.rawValue) {
      getsockopt(descriptor.rawValue, SOL_SOCKET, SHIM_SO_PEERCRED, &credentials, &count)
    }
    // NGROUPS_MAX of Linux. Kernels before 4.13 report only the effective group.
    var groups = [UInt32](repeating: 0, count: 65_536)
    count = socklen_t(groups.count * MemoryLayout<UInt32>.size)
    let result = try? SystemCall.run(.getsockopt, on: descriptor.rawValue) {
      getsockopt(descriptor.rawValue, SOL_SOCKET, SHIM_SO_PEERGROUPS, &groups, &count)
    }
    let others = result == 0 ? groups.prefix(Int(count) / MemoryLayout<UInt32>.size) : []
    return SocketPeer(process: credentials.pid, user: credentials.uid, groups: Set(others).union([credentials.gid]))
  }
}
