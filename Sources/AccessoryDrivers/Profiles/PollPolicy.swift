// SPDX-License-Identifier: Apache-2.0

/// How often a profile's accessories are asked by themselves while a service holds them.
public struct PollPolicy: Sendable, Hashable {
  /// How often.
  public enum Interval: Sendable, Hashable {
    /// Never: they are asked when a client asks.
    case off
    /// So long after each answer.
    case every(Duration)

    /// The time; nil for never.
    public var duration: Duration? { if case .every(let time) = self { time } else { nil } }
  }

  /// For all of the driver's polls; nil: as the driver has it.
  public var all: Interval?
  /// For single polls, by their names; these go before `all`.
  public var named: [String: Interval] = [:]
  /// Whether an accessory that has stopped answering polls is left asleep: it isn't polled again until it speaks,
  /// answers somebody, or is opened anew. The default is `false`.
  public var letsSleep = false

  /// As the driver has it, whatever it answers.
  public init() {}

  /// How often this poll is made; nil: never.
  public func interval(of poll: AccessoryPoll) -> Duration? {
    guard let interval = named[poll.name] ?? all else { return poll.interval }
    return interval.duration
  }
}
