// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The TCP connections of this machine: the kernel is asked for one of them (sock_diag(7)), which costs the same however many there are.
enum LocalConnections {
  /// The socket to the kernel, which stays open. Nil: a question needs one first. An error: this process may not ask, or the kernel has no
  /// answers.
  private static let kernel = Locked<Result<FileDescriptor, Errno>?>(nil)

  /// Whether the other end of a connection is on this machine, and no program has it open. False when that isn't known. Doesn't block.
  static func hasPeerLeft(_ descriptor: FileDescriptor) -> Bool {
    guard let here = NetworkSocket.place(of: descriptor), let peer = NetworkSocket.peer(of: descriptor),
      let address = IPAddress(peer.host), let own = IPAddress(here.host), address.isLoopback || address == own
    else { return false }
    return isOpen(from: (address, peer.port), to: (own, here.port)) == false
  }

  /// Whether a program has the end `from` of a connection to `to` open; nil when that isn't known.
  static func isOpen(from: (IPAddress, UInt16), to: (IPAddress, UInt16)) -> Bool? {
    let request = ConnectionQuestion.request(from: from, to: to)
    return kernel.withLock { kernel in
      let opened = kernel ?? Result { () throws(Errno) in try ConnectionQuestion.open() }
      // Without descriptors or memory for now, the next question tries again.
      if case .failure(.tooManyOpenFiles) = opened { return nil }
      if case .failure(.tooManyOpenFilesInSystem) = opened { return nil }
      kernel = opened
      guard let socket = try? opened.get() else { return nil }
      return ConnectionQuestion.ask(socket, request).flatMap(ConnectionQuestion.isOpen)
    }
  }
}

/// A question for one connection in the form of linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h. Numbers are in this machine's
/// byte order, addresses and ports in the network's.
enum ConnectionQuestion {
  private static let (netlinkFamily, protocolNumber): (CInt, CInt) = (16, 4)
  private static let (byFamily, isRequest): (UInt16, UInt16) = (20, 1)
  private static let headerSize = 16
  /// The length of `inet_diag_req_v2`, and of `inet_diag_msg` with the place of the inode in it.
  private static let (requestSize, answerSize, inodeOffset) = (56, 72, 68)
  /// The states ESTABLISHED, FIN_WAIT1 and FIN_WAIT2, which the end of a client can have while this end is open (net/tcp_states.h).
  private static let states: Set<UInt8> = [1, 4, 5]

  static func open() throws(Errno) -> FileDescriptor {
    FileDescriptor(
      rawValue: try SystemCall.run(.socket) {
        socket(netlinkFamily, CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), protocolNumber)
      })
  }

  static func request(from: (address: IPAddress, port: UInt16), to: (address: IPAddress, port: UInt16)) -> [UInt8] {
    var bytes = words(UInt32(headerSize + requestSize)) + words(byFamily) + words(isRequest) + words(UInt32(0), 0)
    bytes += [from.address.bytes.count == 4 ? UInt8(AF_INET) : UInt8(AF_INET6), UInt8(IPPROTO_TCP), 0, 0]
    bytes += words(UInt32.max)
    bytes += words(from.port.bigEndian) + words(to.port.bigEndian)
    for address in [from.address.bytes, to.address.bytes] {
      bytes += address + [UInt8](repeating: 0, count: 16 - address.count)
    }
    // No interface; the cookie that stands for any connection.
    return bytes + words(UInt32(0), .max, .max)
  }

  /// The kernel's answer, which it has written before the request returns; nil when there is none.
  static func ask(_ socket: FileDescriptor, _ request: [UInt8]) -> [UInt8]? {
    guard let sent = try? Socket.send(request[...], to: socket), sent == request.count else { return nil }
    var answer = [UInt8](repeating: 0, count: 4_096)
    while let count = try? answer.withUnsafeMutableBytes({ try SystemCall.read(socket, into: $0) }), count > 0 {
      let answer = Array(answer.prefix(count))
      if isAnswer(answer, to: request) { return answer }
    }
    return nil
  }

  /// Whether the answer is about the ports of the question, and not what an earlier one has left.
  static func isAnswer(_ answer: [UInt8], to request: [UInt8]) -> Bool {
    answer.count >= headerSize + answerSize && answer[20..<24] == request[24..<28]
  }

  /// Whether a program has the connection of the answer open: what only the kernel still has is the inode of no file. Nil when the answer
  /// is another one: there is no such connection under this name, as behind a redirection.
  static func isOpen(_ answer: [UInt8]) -> Bool? {
    guard answer.count >= headerSize + answerSize else { return nil }
    return answer.withUnsafeBytes { bytes in
      guard bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == byFamily, states.contains(bytes[headerSize + 1])
      else { return nil }
      return bytes.loadUnaligned(fromByteOffset: headerSize + inodeOffset, as: UInt32.self) != 0
    }
  }

  private static func words<Word: FixedWidthInteger>(_ words: Word...) -> [UInt8] {
    words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
  }
}
