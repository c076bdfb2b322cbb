// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A queue of bytes to send: producers offer them on any thread, and a transport writes them in order on the I/O
/// thread.
public final class OutputQueue: Sendable {
  /// The result of an offer.
  public enum OfferResult: Sendable, Equatable {
    /// All bytes are queued.
    case accepted
    /// No byte is queued, because too many are waiting. The `onSpace` handler will be called.
    case full
    /// No byte is queued, because the transport was closed (nil) or failed.
    case closed(AccessoryError?)
  }

  private struct State {
    var bytes: [UInt8] = []
    /// The lengths of the offers in `bytes`; empty for a stream.
    var messages: [Int] = []
    /// Bytes in the queue or the transport that the device hasn't taken yet.
    var queued = 0
    /// The transport found no bytes and waits for a notification.
    var isIdle = true
    var wantsSpace = false
    /// Offers are refused; queued bytes are still written.
    var isSealed = false
    var isClosed = false
    var error: AccessoryError?
    var onSpace: QueueHandler?
    var onQueued: QueueHandler?
    var onClosed: (@Sendable (AccessoryError?) -> Void)?
    var onEmpty: [@Sendable () -> Void] = []
    var tap: QueueTap?
  }

  private let state = Locked(State())
  private let highWater: Int
  /// True when each offer is a message, and `take` returns the lengths of the messages.
  public let keepsMessages: Bool

  /// A queue that is full when it contains `highWater` bytes, 16 KiB by default. The offer that fills it may exceed
  /// that.
  public init(highWater: Int = 16_384, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The producers' side

  /// Sets the handler that is called after a `full` result, when there is space again or the queue has closed: on the
  /// I/O thread, or at once on the calling thread if that has already happened.
  public func onSpace(_ body: @escaping @Sendable () -> Void) {
    let isDue = state.withLock { state in
      if !state.isClosed { state.onSpace = QueueHandler(body) }
      guard state.wantsSpace, state.isSealed || state.isClosed || state.queued <= highWater / 2 else { return false }
      state.wantsSpace = false
      return true
    }
    if isDue { body() }
  }

  /// Queues all of `bytes`, or none.
  public func offer(_ bytes: RawSpan) -> OfferResult { bytes.withUnsafeBytes { offer($0) } }

  private func offer(_ bytes: UnsafeRawBufferPointer) -> OfferResult {
    let (offered, notify) = state.withLock { state -> (OfferResult, QueueHandler?) in
      if state.isClosed || state.isSealed { return (.closed(state.error), nil) }
      if state.queued >= highWater {
        state.wantsSpace = true
        return (.full, nil)
      }
      guard !bytes.isEmpty else { return (.accepted, nil) }
      state.bytes.append(contentsOf: bytes)
      if keepsMessages { state.messages.append(bytes.count) }
      state.queued += bytes.count
      defer { state.isIdle = false }
      return (.accepted, state.isIdle ? state.onQueued : nil)
    }
    notify?.call()
    return offered
  }

  /// Queues all of `bytes`, or none.
  public func offer(_ bytes: [UInt8]) -> OfferResult { bytes.withUnsafeBytes { offer($0) } }

  /// Returns true when an offer would be accepted. Otherwise the `onSpace` handler will be called, unless the queue is
  /// closed. For a producer that waits for space before it makes an offer.
  public func requestSpace() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.isSealed else { return false }
      if state.queued < highWater { return true }
      state.wantsSpace = true
      return false
    }
  }

  /// Sets the handler that is called once when the queue closes, on the thread that closes it; or at once on the
  /// calling thread if the queue is closed already. The error is nil when the owner closed the transport.
  public func onClosed(_ body: @escaping @Sendable (AccessoryError?) -> Void) {
    let closed = state.withLock { state -> AccessoryError?? in
      if state.isClosed || state.isSealed { return .some(state.error) }
      state.onClosed = body
      return .none
    }
    if let closed { body(closed) }
  }

  /// Calls `body` once when the device has taken all queued bytes or the queue has closed: at once on the calling
  /// thread if that is so already.
  package func onEmpty(_ body: @escaping @Sendable () -> Void) {
    let isEmpty = state.withLock { state in
      if state.queued > 0, !state.isClosed {
        state.onEmpty.append(body)
        return false
      }
      return true
    }
    if isEmpty { body() }
  }

  /// True when an offer would be accepted.
  public var hasSpaceAvailable: Bool { state.withLock { !$0.isClosed && !$0.isSealed && $0.queued < highWater } }

  /// The number of bytes that the device hasn't taken yet.
  public var queuedCount: Int { state.withLock { $0.queued } }

  // MARK: - The transport's side

  /// Sets the handler that is called on the producer's thread when bytes are queued after `take` found none.
  public func onQueued(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isClosed { $0.onQueued = QueueHandler(body) } }
  }

  /// Calls `body` with all bytes that the transport takes from now on.
  func listen(_ body: @escaping InputQueue.Tap) { state.withLock { $0.tap = QueueTap(call: body) } }

  /// Replaces the contents of `buffer` with the queued bytes. Returns false when there are none.
  public func take(into buffer: inout [UInt8]) -> Bool {
    var messages: [Int] = []
    return take(into: &buffer, messages: &messages)
  }

  /// Like `take(into:)`. Also replaces `messages` with the byte counts of the offers in `buffer`, in order, if the
  /// queue keeps messages.
  public func take(into buffer: inout [UInt8], messages: inout [Int]) -> Bool {
    buffer.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
    let tap = state.withLock { state in
      if state.bytes.isEmpty {
        state.isIdle = true
      } else {
        swap(&state.bytes, &buffer)
        swap(&state.messages, &messages)
      }
      return state.tap
    }
    if let tap, !buffer.isEmpty { tap.call(buffer.span.bytes) }
    return !buffer.isEmpty
  }

  /// Records that the device has taken `count` bytes.
  public func wrote(_ count: Int) {
    let (notify, emptied) = state.withLock { state -> (QueueHandler?, [@Sendable () -> Void]) in
      state.queued -= count
      var emptied: [@Sendable () -> Void] = []
      if state.queued == 0, !state.onEmpty.isEmpty { swap(&emptied, &state.onEmpty) }
      guard state.wantsSpace, state.queued <= highWater / 2, let onSpace = state.onSpace else { return (nil, emptied) }
      state.wantsSpace = false
      return (onSpace, emptied)
    }
    notify?.call()
    for body in emptied { body() }
  }

  /// Refuses new offers, but keeps the bytes that wait to be written. Producers see a queue that was closed without an
  /// error, even if a later `close` has one.
  package func seal() {
    let handlers = state.withLock { state -> Handlers? in
      guard !state.isClosed, !state.isSealed else { return nil }
      state.isSealed = true
      defer { state.onClosed = nil }
      let mustTell = state.wantsSpace && state.onSpace != nil
      if mustTell { state.wantsSpace = false }
      return (mustTell, state.onSpace, nil, state.onClosed, [])
    }
    guard let handlers else { return }
    if handlers.mustTell { handlers.onSpace?.call() }
    handlers.onClosed?(nil)
  }

  /// Refuses new offers and drops the queued bytes. A producer that waits for space is notified. Only the first call
  /// has an effect. The handlers are released and not called again.
  public func close(_ error: AccessoryError?) {
    let handlers = state.withLock { state -> Handlers? in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      if !state.isSealed { state.error = error }
      state.bytes = []
      state.messages = []
      state.queued = 0
      defer { (state.onSpace, state.onQueued, state.onClosed, state.onEmpty) = (nil, nil, nil, []) }
      let mustTell = state.wantsSpace && state.onSpace != nil
      if mustTell { state.wantsSpace = false }
      return (mustTell, state.onSpace, state.onQueued, state.onClosed, state.onEmpty)
    }
    guard let handlers else { return }
    if handlers.mustTell { handlers.onSpace?.call() }
    handlers.onClosed?(error)
    for body in handlers.onEmpty { body() }
  }

  /// Handlers are released outside the lock, because freeing what they retain may call this queue again.
  private typealias Handlers = (
    mustTell: Bool, onSpace: QueueHandler?, onQueued: QueueHandler?,
    onClosed: (@Sendable (AccessoryError?) -> Void)?, onEmpty: [@Sendable () -> Void]
  )
}
