// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A recorded conversation, step by step, for a `ReplaySimulator`.
public struct ReplayScript: Sendable, Hashable {
  /// One step.
  public enum Step: Sendable, Hashable {
    /// The host sent these bytes.
    case host([UInt8])
    /// The accessory sent these bytes.
    case accessory([UInt8])
    /// The accessory was unplugged.
    case unplug
    /// The accessory was plugged in again.
    case plugIn
    /// The recorder dropped this many bytes of both directions here.
    case loss(byteCount: Int)
  }

  /// A step and its time.
  public struct TimedStep: Sendable, Hashable {
    /// The time since the recording began. Never earlier than the time of the previous step.
    public var time: Duration
    /// What happened.
    public var step: Step
  }

  /// The steps in order. There are no bytes between `unplug` and `plugIn`.
  public private(set) var steps: [TimedStep] = []
  /// The number of bytes in all steps.
  public private(set) var byteCount = 0

  /// The most bytes of a script: 64 MiB.
  public static let byteLimit = 64 << 20
  /// The most steps of a script: one million.
  public static let stepLimit = 1_000_000

  /// An empty script.
  public init() {}

  /// Adds a step. If `time` is earlier than the last step, the last step's time is used. When bytes follow an unplug, a
  /// `plugIn` is added before them. An `unplug` of an unplugged accessory and a `plugIn` of a plugged-in one are ignored.
  ///
  /// Throws `unsupported` when the script would exceed `byteLimit` or `stepLimit`.
  public mutating func add(_ step: Step, at time: Duration) throws(AccessoryError) {
    let isUnplugged = steps.last?.step == .unplug
    switch step {
    case .unplug where isUnplugged || steps.isEmpty, .plugIn where !isUnplugged: return
    case .host(let bytes), .accessory(let bytes):
      if bytes.isEmpty { return }
      byteCount += bytes.count
    case .unplug, .plugIn, .loss: break
    }
    if isUnplugged, step != .plugIn { append(.plugIn, at: time) }
    append(step, at: time)
    guard byteCount <= Self.byteLimit, steps.count <= Self.stepLimit else {
      throw AccessoryError(
        .unsupported,
        "the recording is too long to be replayed: it has more than \(Self.byteLimit) bytes or \(Self.stepLimit) records"
      )
    }
  }

  private mutating func append(_ step: Step, at time: Duration) {
    steps.append(TimedStep(time: max(time, steps.last?.time ?? time), step: step))
  }
}

/// How fast a recording is replayed.
public enum ReplaySpeed: Sendable, Hashable {
  /// This many times as fast as recorded; more than 0.
  case times(Double)
  /// Without pauses: the accessory's bytes are sent as soon as the host has sent the bytes before them.
  case atOnce

  /// The length of a recorded pause at this speed.
  func pause(_ recorded: Duration) -> Duration {
    switch self {
    case .atOnce: return .zero
    case .times(let factor):
      let nanoseconds = (Double(recorded.inNanoseconds) / factor).rounded()
      return nanoseconds < 9e18 ? .nanoseconds(Int64(max(0, nanoseconds))) : .nanoseconds(Int64.max)
    }
  }
}
