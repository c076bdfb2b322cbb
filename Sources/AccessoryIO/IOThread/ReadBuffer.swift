// SPDX-License-Identifier: Apache-2.0

/// The buffer that all transports of an I/O thread read into, one after another. Only `withReadBuffer` accesses it.
final class ReadBuffer: Sendable {
  /// The size in bytes. A terminal returns at most about 4 KiB for a read, a socket everything that has arrived.
  private static let size = 65_536

  // This is safe because only `withReadBuffer` accesses the memory, on the thread that the buffer belongs to.
  fileprivate nonisolated(unsafe) let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ReadBuffer.size, alignment: 16)

  deinit { memory.deallocate() }
}

extension IOActor {
  /// Calls `body` with the I/O thread's buffer. Only code that is isolated to an actor of the I/O thread can call this;
  /// it traps on any other thread. The contents of the buffer are undefined after `body` returns.
  package func withReadBuffer<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(io.isCurrent, "this must run on the I/O thread")
    return try body(io.readBuffer.memory)
  }
}
