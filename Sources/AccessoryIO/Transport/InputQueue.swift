// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A queue of received bytes: a transport appends them on the I/O thread, and one consumer takes them on any other
/// thread.
///
/// Taking bytes doesn't copy them: the consumer swaps its empty buffer for the filled one. A consumer that found no
/// bytes is notified once when bytes arrive.
public final class InputQueue: Sendable {
  /// The result of `take`.
  public enum TakeResult: Sendable, Equatable {
    /// The buffer contains bytes.
    case bytes
    /// There are no bytes yet; the `onReadable` handler will be called.
    case nothing
    /// All bytes were taken, and no more follow. The error is nil when the owner closed the transport.
    case end(AccessoryError?)
  }

  typealias Tap = @Sendable (RawSpan) -> Void

  private struct State {
    var bytes: [UInt8] = []
    /// The lengths of the messages in `bytes`; empty for a stream.
    var messages: [Int] = []
    /// The number of bytes that were taken last.
    var lastCount = 0
    var isPaused = false
    /// The consumer found no bytes and waits for a notification.
    var isWaiting = true
    var hasEnded = false
    var isConsumedOnIOThread = false
    var error: AccessoryError?
    var onReadable: QueueHandler?
    var onResume: QueueHandler?
    var tap: QueueTap?

    var isEmpty: Bool { bytes.isEmpty && messages.isEmpty }

    mutating func takeNotification() -> QueueHandler? {
      guard isWaiting else { return nil }
      isWaiting = false
      return onReadable
    }
  }

  private let state = Locked(State())
  private let highWater: Int
  /// True when each `append` is a message, and `take` returns the lengths of the messages.
  public let keepsMessages: Bool

  /// Added to each message's length for the high-water mark, so that empty messages can't accumulate without limit.
  private static let messageOverhead = 16

  /// A queue that asks its transport to pause when it contains `highWater` bytes, 64 KiB by default.
  public init(highWater: Int = 65_536, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The transport's side

  /// Sets the handler that asks a paused transport to continue. It is called on the consumer's thread.
  public func onResume(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.hasEnded { $0.onResume = QueueHandler(body) } }
  }

  /// Calls `body` with all bytes that are appended from now on.
  func listen(_ body: @escaping Tap) { state.withLock { $0.tap = QueueTap(call: body) } }

  /// Appends bytes and notifies the consumer. Returns false when the transport should pause until the `onResume`
  /// handler is called. Bytes that are appended during the pause are kept, so no bytes that were read are lost.
  public func append(_ bytes: RawSpan) -> Bool { bytes.withUnsafeBytes { append($0, notifying: true) } }

  /// Like `append(_:)`. Without `notifying`, the caller must call `notify` afterwards.
  package func append(_ bytes: UnsafeRawBufferPointer, notifying: Bool) -> Bool {
    let (tap, notify, wantsMore) = state.withLock { state -> (QueueTap?, QueueHandler?, Bool) in
      guard !state.hasEnded else { return (nil, nil, false) }
      // If the consumer kept the last buffer, a new one is needed. It gets the size of the last one at once, because
      // growing in steps would copy the bytes each time.
      if state.bytes.isEmpty { state.bytes.reserveCapacity(min(state.lastCount, highWater)) }
      state.bytes.append(contentsOf: bytes)
      if keepsMessages { state.messages.append(bytes.count) }
      if state.bytes.count + state.messages.count * Self.messageOverhead >= highWater { state.isPaused = true }
      return (state.tap, notifying ? state.takeNotification() : nil, !state.isPaused)
    }
    tap?.call(bytes.bytes)
    notify?.call()
    return wantsMore
  }

  /// Notifies the consumer of bytes that were appended without a notification.
  package func notify() {
    let notification = state.withLock { $0.isEmpty ? nil : $0.takeNotification() }
    notification?.call()
  }

  /// Ends the queue after the bytes in it. Only the first call has an effect. The handlers are released and not called
  /// again.
  public func finish(_ error: AccessoryError?) {
    let handlers = state.withLock { state -> Handlers? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      state.error = error
      let notification = state.takeNotification()
      defer { (state.onReadable, state.onResume) = (nil, nil) }
      return (notification, state.onReadable, state.onResume)
    }
    handlers?.notification?.call()
  }

  /// Handlers are released outside the lock, because freeing what they retain may call this queue again.
  private typealias Handlers = (
    notification: QueueHandler?, onReadable: QueueHandler?, onResume: QueueHandler?
  )

  // MARK: - The consumer's side

  /// Sets the handler that is called on the I/O thread when bytes or the end arrive. It is called at once, on the
  /// calling thread, if they have already arrived.
  public func onReadable(_ body: @escaping @Sendable () -> Void) {
    let isReadable = state.withLock { state in
      if !state.hasEnded { state.onReadable = QueueHandler(body) }
      let isReadable = !state.isEmpty || state.hasEnded
      state.isWaiting = !isReadable
      return isReadable
    }
    if isReadable { body() }
  }

  /// Like `onReadable(_:)`, for a consumer that takes the bytes on the I/O thread.
  package func onReadableOnIOThread(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.isConsumedOnIOThread = true }
    onReadable(body)
  }

  /// Whether the bytes are taken on the I/O thread, so that no other thread is woken for them.
  var isConsumedOnIOThread: Bool { state.withLock { $0.isConsumedOnIOThread } }

  /// Replaces the contents of `buffer` with all bytes that have arrived. The queue reuses the buffer's storage.
  public func take(into buffer: inout [UInt8]) -> TakeResult {
    var messages: [Int] = []
    return take(into: &buffer, messages: &messages)
  }

  /// Like `take(into:)`. Also replaces `messages` with the byte counts of the messages in `buffer`, in order, if the
  /// queue keeps messages.
  public func take(into buffer: inout [UInt8], messages: inout [Int]) -> TakeResult {
    buffer.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
    let (taken, resume) = state.withLock { state -> (TakeResult, QueueHandler?) in
      guard !state.isEmpty else {
        if state.hasEnded { return (.end(state.error), nil) }
        state.isWaiting = true
        return (.nothing, nil)
      }
      swap(&state.bytes, &buffer)
      swap(&state.messages, &messages)
      state.lastCount = buffer.count
      defer { state.isPaused = false }
      return (.bytes, state.isPaused ? state.onResume : nil)
    }
    resume?.call()
    return taken
  }

  /// The number of bytes that wait to be taken.
  public var count: Int { state.withLock { $0.bytes.count } }

  /// True when a `take` would find bytes.
  public var hasBytesAvailable: Bool { state.withLock { !$0.bytes.isEmpty } }
}
