// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A queue of received bytes: a transport appends them on the I/O thread, and one consumer takes them on any other
/// thread.
///
/// Bytes aren't copied when they are taken: the consumer swaps its empty buffer for the filled one. After it found
/// nothing, the consumer is notified once when there are bytes.
public final class InputQueue: Sendable {
  /// What `take` found.
  public enum TakeResult: Sendable, Equatable {
    /// There are bytes in the buffer.
    case bytes
    /// Nothing yet: a call of `onReadable` will follow.
    case nothing
    /// All bytes were taken, and no more will come. The error is nil when the owner closed the transport.
    case end(AccessoryError?)
  }

  typealias Tap = @Sendable (RawSpan) -> Void

  private struct State {
    var bytes: [UInt8] = []
    /// The lengths of the messages in `bytes`; empty for a stream.
    var messages: [Int] = []
    /// Bytes that were taken last.
    var lastCount = 0
    var isPaused = false
    /// The consumer found nothing and waits for a notification.
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

  /// Added to each message's length for the high-water mark, so that empty messages can't pile up.
  private static let messageOverhead = 16

  /// A queue that asks its transport to pause when it holds `highWater` bytes, 64 KiB by default.
  public init(highWater: Int = 65_536, keepsMessages: Bool = false) {
    self.highWater = highWater
    self.keepsMessages = keepsMessages
  }

  // MARK: - The transport's side

  /// Sets the handler that tells a paused transport to continue. It is called on the consumer's thread.
  public func onResume(_ body: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.hasEnded { $0.onResume = body } }
  }

  /// Shows `body` all bytes that are appended from now on.
  func listen(_ body: @escaping Tap) { state.withLock { $0.tap = body } }

  /// Appends bytes and notifies the consumer. Returns false when the transport should pause until `onResume` is called.
  /// Bytes that are appended during the pause are kept, so that none that was read is lost.
  public func append(_ bytes: RawSpan) -> Bool { bytes.withUnsafeBytes { append($0, notifying: true) } }

  /// As above; unless `notifying`, a call of `notify` is to follow.
  func append(_ bytes: UnsafeRawBufferPointer, notifying: Bool) -> Bool {
    let (tap, notify, wantsMore) = state.withLock { state -> (Tap?, (@Sendable () -> Void)?, Bool) in
      guard !state.hasEnded else { return (nil, nil, false) }
      // If the consumer kept the last buffer, a new one is needed. It gets the size of the last one at once, as growing
      // step by step would copy the bytes each time.
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

  /// Notifies the consumer of bytes that were appended without a notification.
  func notify() {
    let notification = state.withLock { $0.isEmpty ? nil : $0.takeNotification() }
    notification?()
  }

  /// Ends the queue after the bytes that are in it. Only the first call counts. The handlers are released and not
  /// called again.
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

  /// Released outside the lock: freeing what they hold may call this queue again.
  private typealias Handlers = (
    notification: (@Sendable () -> Void)?, onReadable: (@Sendable () -> Void)?, onResume: (@Sendable () -> Void)?
  )

  // MARK: - The consumer's side

  /// Sets the handler that is called on the I/O thread when there are bytes or the end. It is called at once if there
  /// are already.
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
