// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A timed sequence of changes of DTR and RTS, for example the one that resets a board into its boot loader.
public struct LineScript: Sendable, Hashable {
  /// One step of a script.
  public enum Step: Sendable, Hashable {
    /// Raises some outputs and lowers others, at the same moment where the hardware can do that.
    case set(raising: ModemLines, lowering: ModemLines)
    /// Waits for at least this time.
    case wait(Duration)
  }

  /// The steps, in order.
  public let steps: [Step]

  /// The most steps that a script can have.
  public static let mostSteps = 64
  /// The longest total time of a script's waits.
  public static let longestTime = Duration.seconds(10)

  /// Creates a script of these steps. Throws `misconfigured` when there are no steps or more than `mostSteps`, when a
  /// wait is negative, when the waits are longer than `longestTime` in total, and when a step sets an input or raises and
  /// lowers the same line.
  public init(_ steps: [Step]) throws(AccessoryError) {
    guard (1...Self.mostSteps).contains(steps.count) else {
      throw AccessoryError(.misconfigured, "a line script has 1 to \(Self.mostSteps) steps, not \(steps.count)")
    }
    var total = Duration.zero
    for step in steps {
      switch step {
      case .set(let raised, let lowered): try ModemLines.check(raising: raised, lowering: lowered, "a line script")
      case .wait(let time):
        guard time >= .zero, time <= Self.longestTime - total else {
          throw AccessoryError(.misconfigured, "a line script waits for 10 seconds at most, all waits together")
        }
        total += time
      }
    }
    self.steps = steps
  }

  /// Creates one of this package's own scripts, without checking it.
  init(known steps: [Step]) { self.steps = steps }

  /// Runs the steps on a line, with the time from `clock`. A wait begins after the driver has made the previous change,
  /// so no wait is shorter than stated. Returns early, without an error, when the task is cancelled.
  ///
  /// Throws the errors of `LineControl.set(raising:lowering:)`; the remaining steps aren't run.
  public func run(on line: any LineControl, clock: any TimerClock = IOThread.shared) async throws(AccessoryError) {
    for step in steps {
      if Task.isCancelled { return }
      switch step {
      case .set(let raised, let lowered): try await line.set(raising: raised, lowering: lowered)
      case .wait(let time): await clock.sleep(for: time)
      }
    }
  }
}
