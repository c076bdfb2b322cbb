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

  /// Hands the library the next block of what the broker has sent, or the rest of the last one. Throws the error with which the
  /// connection has ended.
  func receive(_ reader: isolated some IOActor) throws(Errno) {
    if inbound.isEmpty, !isAtEnd {
      guard let block = try Self.block(from: descriptor, reader) else { return }
      inbound = block
      isAtEnd = block.isEmpty
      if isAtEnd { shutdown(inner.rawValue, CInt(SHUT_WR)) }
    }
    received += UInt64(try Self.move(&inbound, to: inner))
  }

  /// Sends what the library has written. Returns false if there was nothing that the broker takes now.
  func send(_ reader: isolated some IOActor) throws(Errno) -> Bool {
    var hasMoved = false
    while true {
      if outbound.isEmpty { outbound = try Self.block(from: inner, reader) ?? [] }
      guard try Self.move(&outbound, to: descriptor) > 0 else { return hasMoved }
      hasMoved = true
    }
  }

  /// What has arrived, at most a block; empty at the end of the stream, nil if nothing has.
  private static func block(
    from descriptor: FileDescriptor, _ reader: isolated some IOActor
  ) throws(Errno) -> ArraySlice<UInt8>? {
    var block: ArraySlice<UInt8> = []
    do throws(Errno) {
      _ = try Socket.receive(from: descriptor, by: reader) { block = Array($0)[...] }
      return block
    } catch .wouldBlock { return nil }
  }

  /// Writes as much as fits, and returns how many bytes that were.
  private static func move(_ bytes: inout ArraySlice<UInt8>, to descriptor: FileDescriptor) throws(Errno) -> Int {
    guard !bytes.isEmpty else { return 0 }
    do throws(Errno) {
      let count = try Socket.send(bytes, to: descriptor)
      bytes.removeFirst(count)
      return count
    } catch .wouldBlock { return 0 }
  }

  /// Closes both. Call it once, after the library's end is gone.
  func close() {
    Socket.close(descriptor)
    Socket.close(inner)
  }
}
