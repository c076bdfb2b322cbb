// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How fast a transfer gets on, by its last seconds.
package struct TransferPace: Sendable {
  private var samples: [(time: MonotonicTime, done: Int)] = []

  /// What is older doesn't count.
  package static let span = Duration.seconds(5)
  /// Samples closer than this are one, so that there are no more than a few dozen.
  private static let grain = Duration.milliseconds(100)

  /// A transfer that nothing is known of.
  package init() {}

  /// So much is done now. When that is less than before, or after a pause longer than the span, it begins anew.
  package mutating func note(_ done: Int, at now: MonotonicTime) {
    if let last = samples.last {
      if done < last.done || now - last.time > Self.span { samples = [] }
      // The newest stands for all within its grain, but the first stays where it is.
      if samples.count > 1, now - samples[samples.count - 2].time < Self.grain { samples.removeLast() }
    }
    samples.append((now, done))
    if let first = samples.firstIndex(where: { now - $0.time <= Self.span }), first > 0 {
      samples.removeFirst(first)
    }
  }

  /// Something came in between, such as an unplug: what was before says nothing any more.
  package mutating func interrupt() { samples = [] }

  /// Bytes a second; nil while too little is known.
  package var rate: Double? {
    guard let first = samples.first, let last = samples.last else { return nil }
    let time = last.time - first.time
    guard time >= Self.grain, last.done > first.done else { return nil }
    return (Double(last.done) - Double(first.done)) / (Double(time.inNanoseconds) / 1e9)
  }

  /// Time until all of `total` is done, at this pace; nil while too little is known.
  package func timeLeft(of total: Int) -> Duration? {
    guard let rate, let done = samples.last?.done, total >= done else { return nil }
    let seconds = (Double(total) - Double(done)) / rate
    return seconds < 1e9 ? .milliseconds(Int64((seconds * 1_000).rounded())) : nil
  }
}
