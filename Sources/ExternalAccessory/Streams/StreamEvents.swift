// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// The events that are due to a stream's delegate, and the stream's status. A value without threads or run loops.
struct StreamEvents: Sendable {
  private enum Phase { case notOpen, open, closed }

  /// What is to be told next.
  enum Due: Sendable, Equatable {
    /// This.
    case event(Stream.Event)
    /// That there is something to read, or space to write, if there is.
    case ready
  }

  /// How the bytes ended.
  struct End: Sendable {
    /// Nil: the session was closed here.
    var error: AccessoryError?
    /// An accessory that was unplugged has come to its end; all else is an error.
    var isFailure: Bool { error.map { $0.kind != .disconnected && $0.kind != .cancelled } ?? false }
  }

  private var phase = Phase.notOpen
  private var owesOpened = false
  private var owesReady = false
  private var owesEnd = false
  /// How the bytes ended; nil while they haven't.
  private(set) var end: End?

  /// Opened, and not closed.
  var isOpen: Bool { phase == .open }
  /// True when the delegate has been told all that it will ever be.
  var isOver: Bool { phase == .closed || (phase == .open && end != nil && !owesEnd) }
  /// Whether there is anything to tell.
  var owesAny: Bool { phase == .open && (owesOpened || owesReady || owesEnd) }

  /// As Foundation has it.
  var status: Stream.Status {
    switch phase {
    case .notOpen: .notOpen
    case .open: end.map { $0.isFailure ? .error : .atEnd } ?? .open
    case .closed: .closed
    }
  }

  /// A stream is opened once; one that was closed stays so.
  mutating func open() {
    guard phase == .notOpen else { return }
    phase = .open
    owesOpened = true
    owesReady = end == nil
    owesEnd = end != nil
  }

  /// True the first time.
  mutating func close() -> Bool {
    defer { phase = .closed }
    return phase != .closed
  }

  /// There may be something to read, or space to write.
  mutating func oweReady() { if end == nil { owesReady = true } }

  /// No more bytes. The first end counts.
  mutating func finish(_ error: AccessoryError?) {
    guard end == nil else { return }
    end = End(error: error)
    owesReady = false
    owesEnd = phase == .open
  }

  /// Removes and returns the next event that is due. If the stream turns out not to be ready, the caller must make sure
  /// that `oweReady` is called when it is.
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
