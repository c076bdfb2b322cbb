// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Counters of a link since it was opened, besides those of its codec. Counters only grow.
public struct LinkCounters: Sendable, Hashable {
  /// Requests that were sent, each counted once.
  public var requests: UInt64 = 0
  /// Replies and refusals that answered a request.
  public var replies: UInt64 = 0
  /// The number of these that were refusals.
  public var refusals: UInt64 = 0
  /// How often a request was sent again.
  public var retries: UInt64 = 0
  /// Tries without a reply in time.
  public var timeouts: UInt64 = 0
  /// Requests that were dropped for newer ones.
  public var overflows: UInt64 = 0
  /// Replies to a request that was cancelled or has timed out.
  public var lateReplies: UInt64 = 0
  /// Replies to a request that was answered already, and events that arrived twice.
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

/// All counters of a link.
public struct LinkStatistics: Sendable, Hashable {
  /// Counters of requests, replies and events.
  public var link: LinkCounters
  /// Counters of frames, and of bytes that belong to none.
  public var frames: FrameCounters
  /// Events that were dropped because a subscriber was too slow.
  public var droppedEvents: UInt64
}
