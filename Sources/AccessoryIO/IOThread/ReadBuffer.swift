// SPDX-License-Identifier: Apache-2.0

/// The buffer that all transports of an I/O thread read into, one after another. Only `withReadBuffer` reaches it.
final class ReadBuffer: Sendable {
  /// Terminals give at most 4 KiB or so at a time, sockets what there is.
  private static let size = 65_536

  // This is safe because `withReadBuffer` is the only user, and runs on the thread that the buffer belongs to.
  fileprivate nonisolated(unsafe) let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ReadBuffer.size, alignment: 16)

  deinit { memory.deallocate() }
}

extension IOActor {
  /// Lends `body` the I/O thread's buffer. Only code that is isolated to an actor of the I/O thread can call this, and
  /// it traps where such an actor runs elsewhere by mistake. The contents of the buffer are undefined after `body`.
  package func withReadBuffer<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(io.isCurrent, "this must run on the I/O thread")
    return try body(io.readBuffer.memory)
  }
}
