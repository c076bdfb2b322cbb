// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Foundation

/// The implementation of an accessory's input stream. Unlike a `Stream` it can be used on any thread.
///
/// Bytes are taken from the transport's queue when the client reads. The queue reports new bytes only once after it was
/// found empty. So a caller takes bytes until the queue is empty, or keeps the rest here and calls `oweReady`.
final class InputCore: StreamBytes {
  private struct State: Sendable {
    /// Bytes that were taken from the queue. Those from `head` on weren't read.
    var buffer: [UInt8] = []
    var head = 0
    var spare: [UInt8] = []
    var isClosed = false
    /// Whether the client has read since the last event.
    var wasRead = false

    var count: Int { buffer.count - head }

    /// Copies up to `limit` bytes to `target`, and returns their number.
    mutating func move(to target: UnsafeMutablePointer<UInt8>, limit: Int) -> Int {
      let piece = min(count, limit)
      buffer.withUnsafeBufferPointer { bytes in
        if let base = bytes.baseAddress { target.update(from: base + head, count: piece) }
      }
      head += piece
      return piece
    }
  }

  /// The most bytes that are buffered for a delegate that doesn't read. Further bytes stay in the transport, and then
  /// in the accessory.
  private static let keptBytes = 65_536

  /// Notifies the delegate.
  let notifier = StreamNotifier()
  private let input: InputQueue
  private let state = Locked(State())

  /// The core of a stream of the bytes in `input`. It is the queue's only consumer.
  init(_ input: InputQueue) {
    self.input = input
    notifier.serve(self)
    input.onReadable { [weak self] in self?.arrived() }
  }

  /// The queue has bytes. Called on the I/O thread.
  private func arrived() {
    let isClosed = state.withLock { state in
      if state.isClosed { discard(&state) }
      return state.isClosed
    }
    if !isClosed { notifier.oweReady() }
  }

  /// Discards all bytes, since an unread input must not block the accessory: some programs use only the output.
  private func discard(_ state: inout State) {
    while case .bytes = input.take(into: &state.buffer) {}
    (state.buffer, state.spare, state.head) = ([], [], 0)
  }

  // MARK: - Bytes

  /// Reads up to `limit` bytes: 0 when there are none, -1 when the stream isn't open or has failed.
  func read(into target: UnsafeMutablePointer<UInt8>, limit: Int) -> Int {
    guard notifier.isOpen else { return -1 }
    let (count, hasMore) = state.withLock { state in
      state.wasRead = true
      var count = 0
      while count < limit, refill(&state) { count += state.move(to: target + count, limit: limit - count) }
      return (count, refill(&state))
    }
    if hasMore { notifier.oweReady() }
    if count == 0, notifier.end?.isFailure == true { return -1 }
    return count
  }

  /// Whether a read would return bytes.
  var hasBytesAvailable: Bool { notifier.isOpen && state.withLock { refill(&$0) } }

  /// When the buffer is empty, takes bytes from the queue; false when there are none.
  private func refill(_ state: inout State) -> Bool {
    if state.count > 0 { return true }
    guard !state.isClosed else { return false }
    state.head = 0
    switch input.take(into: &state.buffer) {
    case .bytes: return true
    case .nothing: return false
    case .end(let error):
      notifier.finish(error)
      return false
    }
  }

  // MARK: - StreamBytes

  var readyEvent: Stream.Event { .hasBytesAvailable }

  func isReady() -> Bool {
    state.withLock { state in
      state.wasRead = false
      return refill(&state)
    }
  }

  /// Moves received bytes to the unread ones, so that the queue is empty and reports the next bytes. True when bytes
  /// came while the delegate was called, since they need another event.
  func wasTold() -> Bool {
    state.withLock { state in
      var hasNew = false
      while !state.wasRead, state.count > 0, state.count < Self.keptBytes, case .bytes = input.take(into: &state.spare)
      {
        state.buffer.removeFirst(state.head)
        state.head = 0
        state.buffer += state.spare
        hasNew = true
      }
      return hasNew
    }
  }

  func wasClosed() {
    state.withLock { state in
      state.isClosed = true
      discard(&state)
    }
  }
}
