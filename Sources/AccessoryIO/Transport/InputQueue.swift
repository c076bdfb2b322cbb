// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The bytes between a transport, which appends on the I/O thread, and its one consumer on any other thread.
///
/// Handing over costs no copy: the consumer swaps its emptied buffer for the filled one. The consumer is told when
/// there is something new, once each time after it found nothing.
public final class InputQueue: Sendable {
  /// What `take` found.
  public enum TakeResult: Sendable, Equatable {
    /// There are bytes in the buffer.
    case bytes
    /// Nothing yet: a call of `onReadable` will follow.
    case nothing
    /// All was taken, and no more will come. Nil: closed by its owner.
    case end(AccessoryError?)
  }

  typealias Tap = @Sendable (RawSpan) -> Void

  private struct State {
    var bytes: [UInt8] = []
    /// The messages that `bytes` is made of, by their counts; empty where there is only a stream.
    var messages: [Int] = []
    /// Bytes that were taken last.
    var lastCount = 0
    var isPaused = false
    /// The consumer found nothing and waits to be told.
    var isWaiting = true
    var hasEnded = false
    var error: AccessoryError?
    var onReadable: (@Sendable () -> Void)?
    var onResume: (@Sendable () -> Void)?
    var tap: Tap?

    var isEmpty: Bool { bytes.isEmpty && messages.isEmpty }

    mutating func takeNotification() -> (@Sendable () -> Void)? {
      guard isWaiting else { return nil }
      isWaiting = false
      return onReadable
    }
  }

  private let state = Locked(State())
  private let highWater: Int
  /// True where each `append` is a message, and `take` can tell one from the next.
  public let keepsMessages: Bool

  /// What a message counts towards the high water mark beside its bytes, so that empty ones can't pile up.
  private static let messageOverhead = 16

  /// A queue that asks for a pause when it holds `highWater` bytes.
  public init(highWater: Int = 65_536, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The transport's side

  /// Sets what is called, on the consumer's thread, when a transport that was asked to pause is to go on.
  public func onResume(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.hasEnded { $0.onResume = body } }
  }

  /// Shows `body` all bytes that are appended from now on.
  func listen(_ body: @escaping Tap) { state.withLock { $0.tap = body } }

  /// Appends bytes and tells the consumer; false when the transport is to stop reading until it is asked to go on. What
  /// is given after that is kept all the same: bytes that left the kernel must not be lost.
  public func append(_ bytes: RawSpan) -> Bool { bytes.withUnsafeBytes { append($0, notifying: true) } }

  /// As above; unless `notifying`, a call of `notify` is to follow.
  func append(_ bytes: UnsafeRawBufferPointer, notifying: Bool) -> Bool {
    let (tap, notify, wantsMore) = state.withLock { state -> (Tap?, (@Sendable () -> Void)?, Bool) in
      guard !state.hasEnded else { return (nil, nil, false) }
      // A consumer that keeps what it takes leaves no storage: what comes now may be as much as before, and storage that
      // grows with each arrival is copied each time.
      if state.bytes.isEmpty { state.bytes.reserveCapacity(min(state.lastCount, highWater)) }
      state.bytes.append(contentsOf: bytes)
      if keepsMessages { state.messages.append(bytes.count) }
      if state.bytes.count + state.messages.count * Self.messageOverhead >= highWater { state.isPaused = true }
      return (state.tap, notifying ? state.takeNotification() : nil, !state.isPaused)
    }
    tap?(bytes.bytes)
    notify?()
    return wantsMore
  }

  /// Tells the consumer of what was appended without telling.
  func notify() {
    let notification = state.withLock { $0.isEmpty ? nil : $0.takeNotification() }
    notification?()
  }

  /// Ends the queue behind what is in it; the first end counts. The handlers are let go: neither is called again.
  public func finish(_ error: AccessoryError?) {
    let handlers = state.withLock { state -> Handlers? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      state.error = error
      let notification = state.takeNotification()
      defer { (state.onReadable, state.onResume) = (nil, nil) }
      return (notification, state.onReadable, state.onResume)
    }
    handlers?.notification?()
  }

  /// Let go outside the lock: what they hold may come back here when it is freed.
  private typealias Handlers = (
    notification: (@Sendable () -> Void)?, onReadable: (@Sendable () -> Void)?, onResume: (@Sendable () -> Void)?
  )

  // MARK: - The consumer's side

  /// Sets what is called, on the I/O thread, when there is something to take. Called at once if there is already.
  public func onReadable(_ body: @escaping @Sendable () -> Void) {
    let isReadable = state.withLock { state in
      if !state.hasEnded { state.onReadable = body }
      let isReadable = !state.isEmpty || state.hasEnded
      state.isWaiting = !isReadable
      return isReadable
    }
    if isReadable { body() }
  }

  /// Exchanges `buffer`, whose contents are dropped and whose storage is used again, for all bytes that have arrived.
  public func take(into buffer: inout [UInt8]) -> TakeResult {
    var messages: [Int] = []
    return take(into: &buffer, messages: &messages)
  }

  /// As `take(into:)`; `messages` is replaced by the counts of bytes of the messages in `buffer`, one after another,
  /// where the queue keeps them.
  public func take(into buffer: inout [UInt8], messages: inout [Int]) -> TakeResult {
    buffer.removeAll(keepingCapacity: true)
    messages.removeAll(keepingCapacity: true)
    let (taken, resume) = state.withLock { state -> (TakeResult, (@Sendable () -> Void)?) in
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
    resume?()
    return taken
  }

  /// Bytes that wait to be taken.
  public var count: Int { state.withLock { $0.bytes.count } }

  /// True when a `take` would find bytes.
  public var hasBytesAvailable: Bool { state.withLock { !$0.bytes.isEmpty } }
}
