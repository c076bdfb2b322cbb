// SPDX-License-Identifier: Apache-2.0

/// Identifies a scheduled action, so that it can be cancelled.
public struct TimerToken: Hashable, Sendable {
  /// The clock's number for the action.
  public let rawValue: UInt64
  /// The token for the action with this number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
