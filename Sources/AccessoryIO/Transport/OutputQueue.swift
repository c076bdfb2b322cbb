// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The bytes between producers on any thread and a transport that writes them on the I/O thread, in order.
public final class OutputQueue: Sendable {
  /// What became of bytes that were offered.
  public enum OfferResult: Sendable, Equatable {
    /// All of them are queued.
    case accepted
    /// None of them: too much is waiting. A call of `onSpace` will follow.
    case full
    /// None of them: the transport is closed (nil) or failed.
    case closed(AccessoryError?)
  }

  private struct State {
    var bytes: [UInt8] = []
    /// The offers that `bytes` is made of, by their counts; empty where there is only a stream.
    var messages: [Int] = []
    /// Bytes here and in the transport's hands that the device has not taken.
    var queued = 0
    /// The transport found nothing and waits to be told.
    var isIdle = true
    var wantsSpace = false
    /// Producers are refused; what is queued is still to be written.
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

  /// A queue that is full when it holds `highWater` bytes; the offer that fills it may go beyond.
  public init(highWater: Int = 16_384, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The producers' side

  /// Sets what is called, on the I/O thread, when there is space again after `full`, or never will be. Called at once
  /// if that has happened already and nobody was told.
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

  /// Sets what is called, once and on the thread that closes it, when the queue takes no more. Called at once if that
  /// is so already. Nil: closed by its owner.
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

  /// Sets what is called, on the producer's thread, when there is something to write after `take` found nothing.
  public func onQueued(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.isClosed { $0.onQueued = body } }
  }

  /// Shows `body` all bytes that the transport takes from now on.
  func listen(_ body: @escaping InputQueue.Tap) { state.withLock { $0.tap = body } }

  /// Exchanges the written `buffer` for what is queued; false when nothing is.
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

  /// Takes no more, but keeps what waits to be written, and tells a producer that waits for space. To producers the
  /// queue is closed, whatever `close` says later.
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

  /// Takes no more, drops what waits, and tells a producer that waits for space. The first call counts. The handlers
  /// are let go: neither is called again.
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

  /// Let go outside the lock: what they hold may come back here when it is freed.
  private typealias Handlers = (
    mustTell: Bool, onSpace: (@Sendable () -> Void)?, onQueued: (@Sendable () -> Void)?,
    onClosed: (@Sendable (AccessoryError?) -> Void)?, onEmpty: [@Sendable () -> Void]
  )
}
