// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// The pending events of a stream's delegate, and the stream's status. A value without threads and run loops.
struct StreamEvents: Sendable {
  private enum Phase { case notOpen, open, closed }

  /// A pending event.
  enum Due: Sendable, Equatable {
    case event(Stream.Event)
    /// The event for readable bytes or for space, if the stream is still ready.
    case ready
  }

  /// How the stream ended.
  struct End: Sendable {
    /// Nil when this program has closed the session.
    var error: AccessoryError?
    /// Whether the end is an error. An unplug is a normal end.
    var isFailure: Bool { error.map { $0.kind != .disconnected && $0.kind != .cancelled } ?? false }
  }

  private var phase = Phase.notOpen
  private var owesOpened = false
  private var owesReady = false
  private var owesEnd = false
  /// How the stream ended; nil while it hasn't.
  private(set) var end: End?

  /// Whether the stream was opened, and not closed.
  var isOpen: Bool { phase == .open }
  /// Whether the delegate has received all events that there will be.
  var isOver: Bool { phase == .closed || (phase == .open && end != nil && !owesEnd) }
  /// Whether an event is pending.
  var owesAny: Bool { phase == .open && (owesOpened || owesReady || owesEnd) }

  /// The status in Foundation's terms.
  var status: Stream.Status {
    switch phase {
    case .notOpen: .notOpen
    case .open: end.map { $0.isFailure ? .error : .atEnd } ?? .open
    case .closed: .closed
    }
  }

  /// Opens the stream. A stream can be opened once, and not after it was closed.
  mutating func open() {
    guard phase == .notOpen else { return }
    phase = .open
    owesOpened = true
    owesReady = end == nil
    owesEnd = end != nil
  }

  /// Closes the stream. True at the first call.
  mutating func close() -> Bool {
    defer { phase = .closed }
    return phase != .closed
  }

  /// The stream may have become ready: there may be bytes to read, or space to write.
  mutating func oweReady() { if end == nil { owesReady = true } }

  /// Ends the stream. The first end counts.
  mutating func finish(_ error: AccessoryError?) {
    guard end == nil else { return }
    end = End(error: error)
    owesReady = false
    owesEnd = phase == .open
  }

  /// Removes and returns the next pending event. If the stream isn't ready after all, the caller must ensure that
  /// `oweReady` is called when it is.
  mutating func next() -> Due? {
    guard phase == .open else { return nil }
    if owesOpened {
      owesOpened = false
      return .event(.openCompleted)
    }
    if owesReady {
      owesReady = false
      return .ready
    }
    guard owesEnd, let end else { return nil }
    owesEnd = false
    return .event(end.isFailure ? .errorOccurred : .endEncountered)
  }
}
