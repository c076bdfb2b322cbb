// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Counts what a link has seen since it was opened, besides its codec's frames. Counters only grow.
public struct LinkCounters: Sendable, Hashable {
  /// Requests that were sent, each counted once.
  public var requests: UInt64 = 0
  /// Replies and refusals that answered a request.
  public var replies: UInt64 = 0
  /// Of these, refusals.
  public var refusals: UInt64 = 0
  /// Times a request was sent again.
  public var retries: UInt64 = 0
  /// Tries that nobody answered in time.
  public var timeouts: UInt64 = 0
  /// Requests that were dropped for newer ones.
  public var overflows: UInt64 = 0
  /// Replies to a request that had been given up.
  public var lateReplies: UInt64 = 0
  /// Replies to a request that was answered already, and events that came twice.
  public var duplicates: UInt64 = 0
  /// Replies without a request, and requests, which an accessory must not send.
  public var unexpected: UInt64 = 0
  /// Events that arrived.
  public var events: UInt64 = 0
  /// Events that are missing, by their numbers.
  public var gaps: UInt64 = 0
  /// How often the accessory was found to have restarted.
  public var restarts: UInt64 = 0

  /// Counters at zero.
  public init() {}
}

/// All that a link counts.
public struct LinkStatistics: Sendable, Hashable {
  /// Requests, replies, events.
  public var link: LinkCounters
  /// Frames, and what was no frame.
  public var frames: FrameCounters
  /// Events that a subscriber was too slow to take.
  public var droppedEvents: UInt64
}
