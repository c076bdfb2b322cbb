// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// Stream sockets on the network (tcp(7)).
enum NetworkSocket {
  /// Connects to the first of the host's addresses that accepts, and returns a non-blocking socket. Blocks while the
  /// name is resolved and for at most `limit` for each address, so call it on a `SetupQueue`.
  ///
  /// Throws `notFound` for an unknown host, `disconnected` when no program listens there, and `timedOut`.
  static func connect(to address: NetworkAddress, limit: Duration) throws(AccessoryError) -> FileDescriptor {
    var failure = AccessoryError(.notFound, "\(DeviceAddress.tcp(address)) has no address")
    for candidate in try candidates(for: address, flags: 0) {
      do throws(Errno) {
        let descriptor = try create(candidate)
        do throws(Errno) {
          // The send timeout also limits how long connect(2) takes.
          try Socket.limitSending(descriptor, to: limit)
          _ = try candidate.withAddress { pointer, count throws(Errno) in
            try SystemCall.run(.connect, on: descriptor.rawValue) {
              Glibc.connect(descriptor.rawValue, pointer, count)
            }
          }
          configure(descriptor)
          Socket.adopt(descriptor)
          return descriptor
        } catch {
          SystemCall.close(descriptor)
          throw error
        }
      } catch .connectionRefused {
        failure = AccessoryError(
          .disconnected, code: .errno(ECONNREFUSED),
          "nothing listens at \(DeviceAddress.tcp(address)): is the device on, and is the port right?")
      } catch .nowInProgress {
        failure = AccessoryError(
          .timedOut, code: .errno(ETIMEDOUT), "\(DeviceAddress.tcp(address)) does not answer: is it on this network?")
      } catch {
        failure = AccessoryError(device: error, "connecting to \(DeviceAddress.tcp(address))")
      }
    }
    throw failure
  }

  /// Listens; port 0 selects any free port. Returns the port as well.
  static func listen(at host: String, port: UInt16) throws(AccessoryError) -> (descriptor: FileDescriptor, port: UInt16)
  {
    let address = NetworkAddress(host: host, port: port)
    guard let candidate = try candidates(for: address, flags: AI_PASSIVE).first else {
      throw AccessoryError(.notFound, "\(DeviceAddress.tcp(address)) has no address")
    }
    return try listen(candidate, address)
  }

  private static func listen(
    _ candidate: Candidate, _ address: NetworkAddress
  ) throws(AccessoryError) -> (descriptor: FileDescriptor, port: UInt16) {
    do throws(Errno) {
      let descriptor = try create(candidate)
      do throws(Errno) {
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        _ = try candidate.withAddress { pointer, count throws(Errno) in
          try SystemCall.run(.bind, on: descriptor.rawValue) { Glibc.bind(descriptor.rawValue, pointer, count) }
        }
        try Socket.listen(descriptor, backlog: 128)
        Socket.adopt(descriptor)
        return (descriptor, try Self.port(of: descriptor))
      } catch {
        SystemCall.close(descriptor)
        throw error
      }
    } catch {
      var failure = AccessoryError(errno: error, "listening at \(DeviceAddress.tcp(address))")
      if error == .addressInUse { failure.message += ": choose another port, or end the program (ss -ltnp names it)" }
      throw failure
    }
  }

  /// Listens for programs on this machine, or, with `isOpenToOthers`, at any address. Without `isOpenToOthers`, throws
  /// `misconfigured` for an address that other machines can connect to.
  static func listen(
    at host: String, port: UInt16, isOpenToOthers: Bool
  ) throws(AccessoryError) -> (descriptor: FileDescriptor, place: ConnectionListener.Place) {
    let address = NetworkAddress(host: host, port: port)
    guard let candidate = try candidates(for: address, flags: AI_PASSIVE).first,
      let place = candidate.bytes.withUnsafeBytes({ IPAddress($0) })
    else {
      throw AccessoryError(.notFound, "\(DeviceAddress.tcp(address)) has no address")
    }
    guard isOpenToOthers || place.isLoopback else {
      throw AccessoryError(
        .misconfigured, "other machines can connect to \(address): say which may, like --allow 192.168.1.0/24")
    }
    let (descriptor, port) = try listen(candidate, address)
    return (descriptor, ConnectionListener.Place(address: place, port: port))
  }

  /// The address of the other end of a connection; nil when the connection has already closed.
  static func peer(of descriptor: FileDescriptor) -> NetworkAddress? {
    address { getpeername(descriptor.rawValue, $0, $1) }
  }

  /// The address of this end of a connection.
  static func place(of descriptor: FileDescriptor) -> NetworkAddress? {
    address { getsockname(descriptor.rawValue, $0, $1) }
  }

  private static func address(
    _ name: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> NetworkAddress? {
    var storage = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name($0, &count) }
    }
    guard result == 0 else { return nil }
    return withUnsafeBytes(of: &storage) { bytes in
      guard let address = IPAddress(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(count)))) else { return nil }
      // In both kinds of address, the port follows the family, most significant byte first.
      let port = bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian
      return NetworkAddress(host: address.description, port: port)
    }
  }

  /// Configures a connection so that small messages are sent at once, and a peer that vanished is detected within a
  /// minute. Keep-alive probes start after `keepAliveDelay`.
  static func configure(_ descriptor: FileDescriptor, keepAliveDelay: Duration = .seconds(20)) {
    set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    // Without it the byte of TCP urgent data would be missing from the stream.
    set(descriptor, SOL_SOCKET, SO_OOBINLINE, 1)
    set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPIDLE, CInt(keepAliveDelay.components.seconds))
    set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPINTVL, 10)
    set(descriptor, CInt(IPPROTO_TCP), TCP_KEEPCNT, 3)
    set(descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, CInt(keepAliveDelay.components.seconds) * 1_000)
  }

  // MARK: - System calls

  /// One of the addresses of a host.
  struct Candidate: Sendable {
    var family: CInt
    var bytes: [UInt8]

    func withAddress<Value>(
      _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Value
    ) throws(Errno) -> Value {
      let result: Result<Value, Errno> = bytes.withUnsafeBytes { bytes in
        // An array's memory is aligned for every C type.
        let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
        return Result { () throws(Errno) in try body(address, socklen_t(bytes.count)) }
      }
      return try result.get()
    }
  }

  private static func candidates(
    for address: NetworkAddress, flags: CInt
  ) throws(AccessoryError) -> [Candidate] {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = flags | AI_NUMERICSERV
    var first: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(address.host, String(address.port), &hints, &first)
    guard result == 0 else {
      throw AccessoryError(.notFound, "\(DeviceAddress.tcp(address)): \(String(cString: gai_strerror(result)))")
    }
    defer { freeaddrinfo(first) }
    var candidates: [Candidate] = []
    var next = first
    while let entry = next {
      if let bytes = entry.pointee.ai_addr {
        let raw = UnsafeRawBufferPointer(start: bytes, count: Int(entry.pointee.ai_addrlen))
        candidates.append(Candidate(family: entry.pointee.ai_family, bytes: Array(raw)))
      }
      next = entry.pointee.ai_next
    }
    return candidates
  }

  private static func create(_ candidate: Candidate) throws(Errno) -> FileDescriptor {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    return FileDescriptor(rawValue: try SystemCall.run(.socket) { socket(candidate.family, type, 0) })
  }

  private static func set(_ descriptor: FileDescriptor, _ level: CInt, _ option: CInt, _ value: CInt) {
    var value = value
    _ = try? SystemCall.run(.setsockopt, on: descriptor.rawValue) {
      setsockopt(descriptor.rawValue, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
  }

  private static func port(of descriptor: FileDescriptor) throws(Errno) -> UInt16 {
    var storage = sockaddr_storage()
    var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return try withUnsafeMutablePointer(to: &storage) { pointer throws(Errno) in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(Errno) in
        _ = try SystemCall.run(.getsockname, on: descriptor.rawValue) {
          getsockname(descriptor.rawValue, pointer, &count)
        }
      }
      // In both kinds of address, the port follows the family, most significant byte first.
      return UnsafeRawPointer(pointer).load(fromByteOffset: 2, as: UInt16.self).bigEndian
    }
  }
}
