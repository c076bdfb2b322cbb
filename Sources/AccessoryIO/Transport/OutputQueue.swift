// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A queue of bytes to send: producers offer them on any thread, and a transport writes them in order on the I/O
/// thread.
public final class OutputQueue: Sendable {
  /// The result of an offer.
  public enum OfferResult: Sendable, Equatable {
    /// All of them are queued.
    case accepted
    /// None of them, because too many are waiting. A call of `onSpace` will follow.
    case full
    /// None of them, because the transport was closed (nil) or failed.
    case closed(AccessoryError?)
  }

  private struct State {
    var bytes: [UInt8] = []
    /// The lengths of the offers in `bytes`; empty for a stream.
    var messages: [Int] = []
    /// Bytes in the queue and in the transport that the device hasn't taken.
    var queued = 0
    /// The transport found nothing and waits for a notification.
    var isIdle = true
    var wantsSpace = false
    /// Offers are refused; queued bytes are still written.
    var isSealed = false
    var isClosed = false
    var error: AccessoryError?
    var onSpace: (@Sendable () -> Void)?
    var onQueued: (@Sendable () -> Void)?
    var onClosed: (@Sendable (AccessoryError?) -> Void)?
    var onEmpty: [@Sendable () -> Void] = []
    var tap: InputQueue.Tap?
  }

  private let state = Locked(State())
  private let highWater: Int
  /// True where each offer is a message, and `take` can tell one from the next.
  public let keepsMessages: Bool

  /// A queue that is full when it holds `highWater` bytes, 16 KiB by default. The offer that fills it may exceed that.
  public init(highWater: Int = 16_384, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The producers' side

  /// Sets the handler that is called on the I/O thread after `full`, when there is space again or the queue has closed.
  /// It is called at once if that has already happened.
  public func onSpace(_ body: @escaping @Sendable () -> Void) {
    let isDue = state.withLock { state in
      if !state.isClosed { state.onSpace = body }
      guard state.wantsSpace, state.isSealed || state.isClosed || state.queued <= highWater / 2 else { return false }
      state.wantsSpace = false
      return true
    }
    if isDue { body() }
  }

  /// Queues all of `bytes`, or nothing.
  public func offer(_ bytes: RawSpan) -> OfferResult { bytes.withUnsafeBytes { offer($0) } }

  private func offer(_ bytes: UnsafeRawBufferPointer) -> OfferResult {
    let (offered, notify) = state.withLock { state -> (OfferResult, (@Sendable () -> Void)?) in
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
    notify?()
    return offered
  }

  /// Queues all of `bytes`, or nothing.
  public func offer(_ bytes: [UInt8]) -> OfferResult { bytes.withUnsafeBytes { offer($0) } }

  /// True when an offer would be accepted; otherwise a call of `onSpace` will follow, unless the queue is closed. For a
  /// producer that waits for space before it offers anything.
  public func requestSpace() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.isSealed else { return false }
      if state.queued < highWater { return true }
      state.wantsSpace = true
      return false
    }
  }

  /// Sets the handler that is called once when the queue closes, on the thread that closes it; at once if it is closed
  /// already. The error is nil when the owner closed it.
  public func onClosed(_ body: @escaping @Sendable (AccessoryError?) -> Void) {
    let closed = state.withLock { state -> AccessoryError?? in
      if state.isClosed || state.isSealed { return .some(state.error) }
      state.onClosed = body
      return .none
    }
    if let closed { body(closed) }
  }

  /// Calls `body` once, when the device has taken all that is queued, or never will; at once if that is so already.
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

  /// Bytes that the device has not taken yet.
  public var queuedCount: Int { state.withLock { $0.queued } }

  // MARK: - The transport's side

  /// Sets the handler that is called on the producer's thread when bytes are queued after `take` found none.
  public func onQueued(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isClosed { $0.onQueued = body } }
  }

  /// Shows `body` all bytes that the transport takes from now on.
  func listen(_ body: @escaping InputQueue.Tap) { state.withLock { $0.tap = body } }

  /// Swaps the written `buffer` for the queued bytes; false when there are none.
  public func take(into buffer: inout [UInt8]) -> Bool {
    var messages: [Int] = []
    return take(into: &buffer, messages: &messages)
  }

  /// As `take(into:)`; `messages` is replaced by the counts of bytes of the offers in `buffer`, one after another, where
  /// the queue keeps them.
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
    if let tap, !buffer.isEmpty { tap(buffer.span.bytes) }
    return !buffer.isEmpty
  }

  /// The device has taken `count` bytes.
  public func wrote(_ count: Int) {
    let (notify, emptied) = state.withLock { state -> ((@Sendable () -> Void)?, [@Sendable () -> Void]) in
      state.queued -= count
      var emptied: [@Sendable () -> Void] = []
      if state.queued == 0, !state.onEmpty.isEmpty { swap(&emptied, &state.onEmpty) }
      guard state.wantsSpace, state.queued <= highWater / 2, let onSpace = state.onSpace else { return (nil, emptied) }
      state.wantsSpace = false
      return (onSpace, emptied)
    }
    notify?()
    for body in emptied { body() }
  }

  /// Refuses new offers, but keeps the bytes that wait to be written. Producers see a closed queue; a later `close`
  /// doesn't change what they see.
  func seal() {
    let handlers = state.withLock { state -> Handlers? in
      guard !state.isClosed, !state.isSealed else { return nil }
      state.isSealed = true
      defer { state.onClosed = nil }
      let mustTell = state.wantsSpace && state.onSpace != nil
      if mustTell { state.wantsSpace = false }
      return (mustTell, state.onSpace, nil, state.onClosed, [])
    }
    guard let handlers else { return }
    if handlers.mustTell { handlers.onSpace?() }
    handlers.onClosed?(nil)
  }

  /// Refuses new offers and drops the queued bytes. A producer that waits for space is notified. Only the first call
  /// counts. The handlers are released and not called again.
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
    if handlers.mustTell { handlers.onSpace?() }
    handlers.onClosed?(error)
    for body in handlers.onEmpty { body() }
  }

  /// Released outside the lock: freeing what they hold may call this queue again.
  private typealias Handlers = (
    mustTell: Bool, onSpace: (@Sendable () -> Void)?, onQueued: (@Sendable () -> Void)?,
    onClosed: (@Sendable (AccessoryError?) -> Void)?, onEmpty: [@Sendable () -> Void]
  )
}
