// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// Operations on stream sockets of any address family. See `UnixSocket` and `NetworkSocket` for those of one family.
package enum Socket {
  /// Closes a socket. Doesn't block on a Unix socket.
  package static func close(_ descriptor: FileDescriptor) { SystemCall.close(descriptor) }

  /// Listens for connections; up to `backlog` wait to be accepted.
  package static func listen(_ descriptor: FileDescriptor, backlog: CInt) throws(Errno) {
    _ = try SystemCall.run(.listen, on: descriptor.rawValue) { Glibc.listen(descriptor.rawValue, backlog) }
  }

  /// Accepts the next connection, as a non-blocking descriptor that closes on exec. Throws `EAGAIN` when none waits, and
  /// `EMFILE` and `ENFILE` only when one does.
  package static func accept(_ descriptor: FileDescriptor) throws(Errno) -> FileDescriptor {
    do throws(Errno) {
      return FileDescriptor(
        rawValue: try SystemCall.run(.accept, on: descriptor.rawValue) { shim_accept(descriptor.rawValue) })
    } catch {
      // The kernel takes a descriptor before it looks whether a connection waits.
      guard error == .tooManyOpenFiles || error == .tooManyOpenFilesInSystem else { throw error }
      throw SystemCall.hasInput(descriptor) ? error : .wouldBlock
    }
  }

  /// Limits how long connect(2) and send(2) may take on a blocking socket.
  package static func limitSending(_ descriptor: FileDescriptor, to duration: Duration) throws(Errno) {
    let microseconds = max(1, duration.inNanoseconds / 1_000)
    var time = timeval(tv_sec: time_t(microseconds / 1_000_000), tv_usec: suseconds_t(microseconds % 1_000_000))
    _ = try SystemCall.run(.setsockopt, on: descriptor.rawValue) {
      setsockopt(descriptor.rawValue, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Makes a descriptor non-blocking and lets it close on exec.
  package static func adopt(_ descriptor: FileDescriptor) {
    _ = fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor.rawValue, F_SETFL, fcntl(descriptor.rawValue, F_GETFL) | O_NONBLOCK)
  }

  /// Receives the next bytes and calls `body` with them; they are valid only during that call. `reader` is the calling
  /// actor, which runs on the I/O thread. Returns the number of bytes, 0 at the end of the stream. Throws `EAGAIN` when
  /// no bytes have arrived.
  package static func receive(
    from descriptor: FileDescriptor, by reader: isolated some IOActor, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Errno) -> Int {
    try reader.withReadBuffer { buffer throws(Errno) in
      let count = try SystemCall.read(descriptor, into: buffer)
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      return count
    }
  }

  /// Sends as many of `bytes` as fit, and returns how many. Throws `EAGAIN` when none fit. Never raises SIGPIPE.
  package static func send(_ bytes: ArraySlice<UInt8>, to descriptor: FileDescriptor) throws(Errno) -> Int {
    let result: Result<Int, Errno> = bytes.withUnsafeBytes { bytes in
      Result { () throws(Errno) in
        try SystemCall.runLong(.write, on: descriptor.rawValue) {
          Glibc.send(descriptor.rawValue, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        }
      }
    }
    return try result.get()
  }

  /// An integer option of a socket (getsockopt(2), SOL_SOCKET); nil when it can't be read.
  static func option(_ name: CInt, of descriptor: FileDescriptor) -> CInt? {
    var value: CInt = 0
    var count = socklen_t(MemoryLayout<CInt>.size)
    let result = try? SystemCall.run(.getsockopt, on: descriptor.rawValue) {
      getsockopt(descriptor.rawValue, SOL_SOCKET, name, &value, &count)
    }
    return result == 0 ? value : nil
  }
}
