// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc

/// The bytes of a stream, as its notifier sees them.
protocol StreamBytes: AnyObject, Sendable {
  /// The event for bytes to read or space to write.
  var readyEvent: Stream.Event { get }
  /// Whether the stream is ready. If not, `oweReady` of the notifier is called when it is, or `finish`.
  func isReady() -> Bool
  /// Called after the delegate has handled a ready event. True when another one is needed.
  func wasTold() -> Bool
  /// The stream was closed.
  func wasClosed()
}

/// Sends a stream's events to its delegate, on the run loops in which the stream is scheduled.
///
/// An event waits until there is a delegate and a run loop. The same event is pending at most once. The delegate is
/// called on one thread at a time, without any lock.
final class StreamNotifier: RunLoopWork {
  private struct State: Sendable {
    var events = StreamEvents()
    var weakReferences = WeakStreamReferences()
    weak var bytes: (any StreamBytes)?
    /// The thread that is calling the delegate.
    var deliveringThread: pthread_t?
    var onClose: (@Sendable () -> Void)?
    var onTold: [@Sendable () -> Void] = []

    /// The callbacks to call when all events were sent; call them outside the lock.
    mutating func takeTold() -> [@Sendable () -> Void] {
      guard events.isOver else { return [] }
      defer { onTold = [] }
      return onTold
    }
  }

  private let source = RunLoopSource()
  private let state = Locked(State())

  /// A notifier without a stream.
  init() { source.run(self) }

  /// Sets the source of the bytes. A weak reference.
  func serve(_ bytes: any StreamBytes) { state.withLock { $0.bytes = bytes } }

  /// Sets the stream object, a weak reference, and a callback for the moment when it is closed.
  func attach(_ stream: Stream, onClose: @escaping @Sendable () -> Void) {
    let weakReferences = WeakStreamReferences(stream: stream)
    state.withLock { state in
      state.weakReferences = weakReferences
      state.onClose = onClose
    }
  }

  // MARK: - Changes

  /// The stream may have become ready: there may be bytes to read, or space to write.
  func oweReady() { change { $0.oweReady() } }

  /// Ends the stream; the first end counts.
  func finish(_ error: AccessoryError?) { change { $0.finish(error) } }

  /// The client opens the stream.
  func open() { change { $0.open() } }

  private func change(_ body: @Sendable (inout StreamEvents) -> Void) {
    let mustSignal = state.withLock { state in
      body(&state.events)
      // The thread that is calling the delegate checks for pending events afterwards, so it needs no signal.
      return state.events.owesAny && state.deliveringThread != pthread_self()
    }
    if mustSignal { source.signal() }
  }

  /// The client closes the stream.
  func close() {
    let (isFirst, bytes, onClose, onTold) = state.withLock { state in
      let isFirst = state.events.close()
      defer { state.onClose = nil }
      return (isFirst, state.bytes, state.onClose, state.takeTold())
    }
    guard isFirst else { return }
    source.invalidate()
    bytes?.wasClosed()
    for body in onTold { body() }
    onClose?()
  }

  // MARK: - Sending events

  /// Sends one event to the delegate. Called by run loops.
  func perform() -> Bool {
    let this = pthread_self()
    // A delegate may run a run loop, which calls this recursively on the same thread.
    let (strongReferences, bytes, outer) = state.withLock {
      state -> (StrongStreamReferences?, (any StreamBytes)?, pthread_t?) in
      guard state.events.owesAny, state.deliveringThread == nil || state.deliveringThread == this else {
        return (nil, nil, nil)
      }
      let (strongReferences, bytes) = (state.weakReferences.strongReferences, state.bytes)
      guard strongReferences.isThere, bytes != nil else { return (strongReferences, bytes, nil) }
      defer { state.deliveringThread = this }
      return (strongReferences, bytes, state.deliveringThread)
    }
    guard let strongReferences, let bytes, strongReferences.isThere else { return false }
    if let event = nextEvent(bytes) {
      strongReferences.deliver(event)
      if event == bytes.readyEvent, bytes.wasTold() { oweReady() }
    }
    let (isMore, onTold) = state.withLock { state in
      state.deliveringThread = outer
      return (state.events.owesAny, state.takeTold())
    }
    for body in onTold { body() }
    return isMore
  }

  private func nextEvent(_ bytes: any StreamBytes) -> Stream.Event? {
    while let due = state.withLock({ $0.events.next() }) {
      switch due {
      case .event(let event): return event
      case .ready: if bytes.isReady() { return bytes.readyEvent }
      }
    }
    return nil
  }

  /// Calls `body` when the delegate has received the end event; at once when there is no delegate to receive it.
  func whenTold(_ body: @escaping @Sendable () -> Void) {
    let (isNow, strongReferences) = state.withLock { state -> (Bool, StrongStreamReferences) in
      let strongReferences = state.weakReferences.strongReferences
      let isListening = state.events.isOpen && strongReferences.isThere && source.isScheduled
      guard isListening, !state.events.isOver else { return (true, strongReferences) }
      state.onTold.append(body)
      return (false, strongReferences)
    }
    _ = strongReferences  // released outside the lock
    if isNow { body() }
  }

  // MARK: - The stream's properties

  /// Whether the stream was opened, and not closed.
  var isOpen: Bool { state.withLock { $0.events.isOpen } }

  /// The status in Foundation's terms.
  var status: Stream.Status { state.withLock { $0.events.status } }

  /// How the stream ended; nil while it hasn't.
  var end: StreamEvents.End? { state.withLock { $0.events.end } }

  /// The delegate. A weak reference.
  var delegate: (any StreamDelegate)? {
    get { state.withLock { $0.weakReferences }.delegate }
    set {
      let weakReferences = WeakStreamReferences(delegate: newValue)
      state.withLock { $0.weakReferences.delegate = weakReferences.delegate }
      source.signal()
    }
  }

  /// Sends events in one more run loop and mode.
  func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { source.schedule(in: runLoop, forMode: mode) }

  /// Stops sending events in a run loop and mode.
  func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { source.remove(from: runLoop, forMode: mode) }
}
