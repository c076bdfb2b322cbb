// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The rate of a transfer, measured over its last seconds.
package struct TransferPace: Sendable {
  private var samples: [(time: MonotonicTime, done: Int)] = []

  /// Samples that are older aren't used.
  package static let span = Duration.seconds(5)
  /// Samples that are closer than this are merged, so that there are only a few dozen.
  private static let grain = Duration.milliseconds(100)

  /// A pace without samples.
  package init() {}

  /// Records that `done` bytes are transferred at `now`. Starts again when that is less than before, or after a pause
  /// that is longer than `span`.
  package mutating func note(_ done: Int, at now: MonotonicTime) {
    if let last = samples.last {
      if done < last.done || now - last.time > Self.span { samples = [] }
      // The newest sample replaces others within `grain`, except for the first one.
      if samples.count > 1, now - samples[samples.count - 2].time < Self.grain { samples.removeLast() }
    }
    samples.append((now, done))
    if let first = samples.firstIndex(where: { now - $0.time <= Self.span }), first > 0 {
      samples.removeFirst(first)
    }
  }

  /// Starts again after an interruption, such as an unplug, because earlier samples no longer apply.
  package mutating func interrupt() { samples = [] }

  /// Bytes per second; nil while there are too few samples.
  package var rate: Double? {
    guard let first = samples.first, let last = samples.last else { return nil }
    let time = last.time - first.time
    guard time >= Self.grain, last.done > first.done else { return nil }
    return (Double(last.done) - Double(first.done)) / (Double(time.inNanoseconds) / 1e9)
  }

  /// The time until all of `total` is transferred at this rate; nil while there are too few samples.
  package func timeLeft(of total: Int) -> Duration? {
    guard let rate, let done = samples.last?.done, total >= done else { return nil }
    let seconds = (Double(total) - Double(done)) / rate
    return seconds < 1e9 ? .milliseconds(Int64((seconds * 1_000).rounded())) : nil
  }
}
