// SPDX-License-Identifier: Apache-2.0

/// How often the service polls the accessories of a profile.
public struct PollPolicy: Sendable, Hashable {
  /// The interval of a poll.
  public enum Interval: Sendable, Hashable {
    /// The service doesn't poll; clients can still ask.
    case off
    /// The time from an answer to the next request.
    case every(Duration)

    /// The interval; nil for `off`.
    public var duration: Duration? { if case .every(let time) = self { time } else { nil } }
  }

  /// The interval of all the driver's polls; nil means the driver's own intervals.
  public var all: Interval?
  /// The intervals of single polls by name. They take precedence over `all`.
  public var named: [String: Interval] = [:]
  /// Whether an accessory that stops answering polls may sleep: it isn't polled again until it sends something, answers
  /// a client's request, or is opened again. The default is `false`.
  public var letsSleep = false

  /// The driver's own intervals, with polling even when the accessory doesn't answer.
  public init() {}

  /// The interval of this poll; nil when it isn't made.
  public func interval(of poll: AccessoryPoll) -> Duration? {
    guard let interval = named[poll.name] ?? all else { return poll.interval }
    return interval.duration
  }
}
