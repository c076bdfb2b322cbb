// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// The events of a descriptor that are reported.
package struct Interest: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  package let rawValue: UInt8
  /// A set of these bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes, or the end of the stream, can be read.
  package static let read = Interest(rawValue: 1 << 0)
  /// Bytes can be written.
  package static let write = Interest(rawValue: 1 << 1)
  /// The other end of a TCP connection has sent urgent data that was not read.
  package static let urgent = Interest(rawValue: 1 << 2)
}

/// The readiness that the kernel reports for a descriptor.
package struct Readiness: OptionSet, Sendable, Hashable {
  /// The bits of the set.
  package let rawValue: UInt8
  /// A set of these bits.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A read doesn't block.
  package static let readable = Readiness(rawValue: 1 << 0)
  /// A write takes at least one byte without blocking.
  package static let writable = Readiness(rawValue: 1 << 1)
  /// The other end has hung up. Reported whatever the interest is, for as long as the descriptor is watched.
  package static let hangUp = Readiness(rawValue: 1 << 2)
  /// The descriptor is in an error state. Reported whatever the interest is.
  package static let error = Readiness(rawValue: 1 << 3)
  /// There is urgent data, and it was not read.
  package static let urgent = Readiness(rawValue: 1 << 4)
}

/// Identifies a watched descriptor. Tokens are never reused, so an event that was fetched before its descriptor was
/// removed can't reach the next owner of the same descriptor number.
package struct EventToken: Hashable, Sendable {
  let rawValue: UInt64
}

/// One event that a wait returned.
package struct QueuedEvent: Sendable, Hashable {
  /// The descriptor of the event; nil for the timer.
  package var token: EventToken?
  /// The readiness of the descriptor.
  package var readiness: Readiness

  /// An event of the descriptor `token`, or, with nil, of the timer.
  package init(token: EventToken?, readiness: Readiness = []) {
    self.token = token
    self.readiness = readiness
  }
}

/// The source of events for an I/O thread: epoll in production (`EpollQueue`), a scripted queue in tests.
///
/// Only the I/O thread calls `wait`; any thread may call the other methods.
package protocol EventQueue: Sendable {
  /// Watches a descriptor, level-triggered.
  func add(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno)
  /// Changes which events of a watched descriptor are reported.
  func modify(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno)
  /// Stops watching. Call it before the descriptor is closed or given to another owner.
  func remove(_ descriptor: FileDescriptor)
  /// Sets the time at which `wait` returns an event without a token; nil disables the timer.
  func arm(_ deadline: MonotonicTime?)
  /// Replaces `events` with the events that have happened. Waits for at least one, unless `poll` is true.
  func wait(into events: inout [QueuedEvent], poll: Bool) throws(Errno)
  /// Makes the current or the next `wait` return.
  func wake()
}
