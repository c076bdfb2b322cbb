// SPDX-License-Identifier: Apache-2.0

/// Names a scheduled action, to cancel it.
public struct TimerToken: Hashable, Sendable {
  /// The number that a clock knows the action by.
  public let rawValue: UInt64
  /// The token of the action that a clock knows by this number.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}
