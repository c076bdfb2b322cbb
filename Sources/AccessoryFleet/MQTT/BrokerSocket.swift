// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The TCP connection with a broker, and a socket pair between it and the library.
///
/// The library reads a packet of up to 256 MiB in one call as long as bytes are there, and a fast broker's always are. So the library
/// has one end of a pair in its socket's place, and finds there only what `receive` hands to it: one block at a time.
final class BrokerSocket {
  /// The connection with the broker. The library may close its own descriptor at any time, and its number may belong to another file
  /// a moment later; this one stays.
  let descriptor: FileDescriptor
  private let inner: FileDescriptor
  private var inbound: ArraySlice<UInt8> = []
  private var outbound: ArraySlice<UInt8> = []
  /// How many bytes the library has been given.
  private(set) var received: UInt64 = 0
  /// Whether the broker has ended the connection, and all that it sent has been handed over.
  private(set) var isAtEnd = false

  /// Takes the place of `library`, the descriptor of the library's socket.
  init(_ library: CInt) throws(Errno) {
    let duplicate = fcntl(library, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else { throw Errno(rawValue: errno) }
    descriptor = FileDescriptor(rawValue: duplicate)
    let ends: (FileDescriptor, FileDescriptor)
    do throws(Errno) { ends = try UnixSocket.pair() } catch {
      Socket.close(descriptor)
      throw error
    }
    inner = ends.1
    defer { Socket.close(ends.0) }
    guard dup2(ends.0.rawValue, library) >= 0 else {
      let number = Errno(rawValue: errno)
      close()
      throw number
    }
    Socket.adopt(FileDescriptor(rawValue: library))
  }

  /// Whether part of a block waits until the library reads.
  var hasMore: Bool { !inbound.isEmpty }
  /// Whether bytes of the library's wait until the broker reads.
  var wantsToSend: Bool { !outbound.isEmpty }

  /// Hands the library the next block of what the broker has sent. Returns false if there is none, or the library has the last one still.
  /// Throws the error with which the connection has ended.
  func receive(_ reader: isolated some IOActor) throws(Errno) -> Bool {
    if inbound.isEmpty, !isAtEnd {
      var block: [UInt8] = []
      do throws(Errno) {
        guard try Socket.receive(from: descriptor, by: reader, { block = Array($0) }) > 0 else { return end() }
      } catch .wouldBlock { return false }
      inbound = block[...]
    }
    return try Self.move(&inbound, to: inner) { received += UInt64($0) }
  }

  private func end() -> Bool {
    isAtEnd = true
    shutdown(inner.rawValue, CInt(SHUT_WR))
    return true
  }

  /// Sends what the library has written. Returns false if there was nothing that the broker takes now.
  func send(_ reader: isolated some IOActor) throws(Errno) -> Bool {
    var hasMoved = false
    while true {
      if outbound.isEmpty {
        var block: [UInt8] = []
        do throws(Errno) {
          guard try Socket.receive(from: inner, by: reader, { block = Array($0) }) > 0 else { return hasMoved }
        } catch .wouldBlock { return hasMoved }
        outbound = block[...]
      }
      guard try Self.move(&outbound, to: descriptor, { _ in }) else { return hasMoved }
      hasMoved = true
    }
  }

  /// Writes as much as fits. Returns false if nothing does.
  private static func move(
    _ bytes: inout ArraySlice<UInt8>, to descriptor: FileDescriptor, _ counted: (Int) -> Void
  ) throws(Errno) -> Bool {
    do throws(Errno) {
      guard !bytes.isEmpty else { return false }
      let count = try Socket.send(bytes, to: descriptor)
      bytes.removeFirst(count)
      counted(count)
      return true
    } catch .wouldBlock { return false }
  }

  /// Closes both. Call it once, after the library's end is gone.
  func close() {
    Socket.close(descriptor)
    Socket.close(inner)
  }
}
