// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc

/// The bytes of a stream, to whom tells its delegate of them.
protocol StreamBytes: AnyObject, Sendable {
  /// The event that says there is something to read, or space to write.
  var readyEvent: Stream.Event { get }
  /// Whether there is; if not, `oweReady` of the notifier is called when there is, or `finish`.
  func isReady() -> Bool
  /// Called after the delegate has handled such an event. True when it needs another one.
  func wasTold() -> Bool
  /// The stream was closed.
  func wasClosed()
}

/// Delivers a stream's events to its delegate, on the run loops in which the stream is scheduled.
///
/// An event waits until there is a delegate and a run loop; the same one twice is told once. The delegate is called by
/// one thread at a time, with no lock held.
final class StreamNotifier: RunLoopWork {
  private struct State: Sendable {
    var events = StreamEvents()
    var face = StreamFace()
    weak var bytes: (any StreamBytes)?
    /// The thread on which the delegate is being called.
    var teller: pthread_t?
    var onClose: (@Sendable () -> Void)?
    var onTold: [@Sendable () -> Void] = []

    /// To be called when all has been told, outside the lock.
    mutating func takeTold() -> [@Sendable () -> Void] {
      guard events.isOver else { return [] }
      defer { onTold = [] }
      return onTold
    }
  }

  private let source = RunLoopSource()
  private let state = Locked(State())

  /// A notifier that knows nothing yet.
  init() { source.run(self) }

  /// Sets whose events these are. Not kept.
  func serve(_ bytes: any StreamBytes) { state.withLock { $0.bytes = bytes } }

  /// Sets the stream object, which is not kept, and what is called, once, when it is closed.
  func attach(_ stream: Stream, onClose: @escaping @Sendable () -> Void) {
    let face = StreamFace(stream: stream)
    state.withLock { state in
      state.face = face
      state.onClose = onClose
    }
  }

  // MARK: - What happened

  /// There may be something to read, or space to write.
  func oweReady() { change { $0.oweReady() } }

  /// No more bytes; the first end counts.
  func finish(_ error: AccessoryError?) { change { $0.finish(error) } }

  /// The client opens the stream.
  func open() { change { $0.open() } }

  private func change(_ body: @Sendable (inout StreamEvents) -> Void) {
    let mustSignal = state.withLock { state in
      body(&state.events)
      // Whoever is telling looks again afterwards.
      return state.events.owesAny && state.teller != pthread_self()
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

  // MARK: - Telling

  /// Delivers one event to the delegate. Called by run loops.
  func perform() -> Bool {
    let this = pthread_self()
    // A run loop may be run within the delegate, and comes here again.
    let (audience, bytes, outer) = state.withLock { state -> (StreamAudience?, (any StreamBytes)?, pthread_t?) in
      guard state.events.owesAny, state.teller == nil || state.teller == this else { return (nil, nil, nil) }
      let (audience, bytes) = (state.face.audience, state.bytes)
      guard audience.isThere, bytes != nil else { return (audience, bytes, nil) }
      defer { state.teller = this }
      return (audience, bytes, state.teller)
    }
    guard let audience, let bytes, audience.isThere else { return false }
    if let event = nextEvent(bytes) {
      audience.tell(event)
      if event == bytes.readyEvent, bytes.wasTold() { oweReady() }
    }
    let (isMore, onTold) = state.withLock { state in
      state.teller = outer
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

  /// Calls `body` when the delegate has been told of the end: at once when there is nobody to tell.
  func whenTold(_ body: @escaping @Sendable () -> Void) {
    let (isNow, audience) = state.withLock { state -> (Bool, StreamAudience) in
      let audience = state.face.audience
      let isListening = state.events.isOpen && audience.isThere && source.isScheduled
      guard isListening, !state.events.isOver else { return (true, audience) }
      state.onTold.append(body)
      return (false, audience)
    }
    _ = audience  // let go outside the lock
    if isNow { body() }
  }

  // MARK: - The stream's properties

  /// Opened, and not closed.
  var isOpen: Bool { state.withLock { $0.events.isOpen } }

  /// As Foundation has it.
  var status: Stream.Status { state.withLock { $0.events.status } }

  /// How the bytes ended; nil while they haven't.
  var end: StreamEvents.End? { state.withLock { $0.events.end } }

  /// Who is told. Not kept.
  var delegate: (any StreamDelegate)? {
    get { state.withLock { $0.face }.delegate }
    set {
      let face = StreamFace(delegate: newValue)
      state.withLock { $0.face.delegate = face.delegate }
      source.signal()
    }
  }

  /// Has events told in one more run loop and mode.
  func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) { source.schedule(in: runLoop, forMode: mode) }

  /// No longer.
  func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) { source.remove(from: runLoop, forMode: mode) }
}
