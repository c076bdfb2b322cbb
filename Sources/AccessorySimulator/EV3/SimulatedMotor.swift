// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A motor whose shaft turns as time passes: ten degrees a second for each percent, which is about what LEGO's large
/// motor does without load.
struct SimulatedMotor: Sendable, Hashable {
  /// A time in which it turns at one rate; a rate is in degrees a second.
  private struct Part: Sendable, Hashable {
    var duration: Duration
    var rate: Double
  }

  /// What was set, in percent; `start` lets it happen.
  private var setting = 0
  private var polarity = 1
  private var isBraking = false
  /// Where it was at `since`, in degrees.
  private var position = 0.0
  private var since = MonotonicTime(nanoseconds: 0)
  /// What it does since then, one part after another, and afterwards.
  private var parts: [Part] = []
  private var rateAfterwards = 0.0
  /// Where the counts begin.
  private var tachoStart = 0.0
  private var countStart = 0.0

  static let degreesPerPercent = 10.0

  // MARK: - Now

  /// Degrees at a moment, from where it was when it was plugged in.
  private func degrees(_ now: MonotonicTime) -> Double {
    var (time, degrees) = (Self.seconds(now - since), position)
    for part in parts {
      let share = min(time, Self.seconds(part.duration))
      degrees += share * part.rate
      time -= share
    }
    return degrees + max(0, time) * rateAfterwards
  }

  private static func seconds(_ duration: Duration) -> Double { Double(duration.inNanoseconds) / 1e9 }

  /// Degrees since the last reset.
  func tacho(_ now: MonotonicTime) -> Int { Int((degrees(now) - tachoStart).rounded()) }
  /// Degrees since the count was last cleared.
  func count(_ now: MonotonicTime) -> Int { Int((degrees(now) - countStart).rounded()) }

  /// Percent of the full speed.
  func speed(_ now: MonotonicTime) -> Int {
    var time = now - since
    for part in parts {
      if time < part.duration { return Int((part.rate / Self.degreesPerPercent).rounded()) * polarity }
      time -= part.duration
    }
    return Int((rateAfterwards / Self.degreesPerPercent).rounded()) * polarity
  }

  /// When it will have done what it was told; nil when it has, or was told no end.
  func end(_ now: MonotonicTime) -> MonotonicTime? {
    let end = parts.reduce(since) { $0 + $1.duration }
    return end > now ? end : nil
  }

  // MARK: - What it is told

  private mutating func settle(_ now: MonotonicTime) {
    (position, since) = (degrees(now), now)
    (parts, rateAfterwards) = ([], 0)
  }

  mutating func set(_ percent: Int) { setting = max(-100, min(100, percent)) }

  mutating func start(_ now: MonotonicTime) {
    settle(now)
    rateAfterwards = Double(setting * polarity) * Self.degreesPerPercent
  }

  /// A new setting counts at once for a motor that turns.
  mutating func adjust(_ percent: Int, _ now: MonotonicTime) {
    set(percent)
    if rateAfterwards != 0, end(now) == nil { start(now) }
  }

  mutating func stop(brake: Bool, _ now: MonotonicTime) {
    settle(now)
    isBraking = brake
  }

  mutating func setPolarity(_ sign: Int, _ now: MonotonicTime) {
    polarity = sign == 0 ? -polarity : sign > 0 ? 1 : -1
    if rateAfterwards != 0, end(now) == nil { start(now) }
  }

  mutating func reset(_ now: MonotonicTime) {
    settle(now)
    tachoStart = position
  }

  mutating func clearCount(_ now: MonotonicTime) { countStart = degrees(now) }

  /// Turns by so many degrees; over the first and the last of them at half the speed.
  mutating func step(percent: Int, up: Int, constant: Int, down: Int, brake: Bool, _ now: MonotonicTime) {
    settle(now)
    isBraking = brake
    let rate = Double(max(-100, min(100, percent)) * polarity) * Self.degreesPerPercent
    guard rate != 0 else { return }
    parts = [(up, 0.5), (constant, 1), (down, 0.5)].filter { $0.0 > 0 }.map { degrees, share in
      Part(duration: .nanoseconds(Int64(Double(degrees) / abs(rate * share) * 1e9)), rate: rate * share)
    }
  }

  /// Turns for so many milliseconds; in the first and the last of them at half the speed.
  mutating func run(percent: Int, up: Int, constant: Int, down: Int, brake: Bool, _ now: MonotonicTime) {
    settle(now)
    isBraking = brake
    let rate = Double(max(-100, min(100, percent)) * polarity) * Self.degreesPerPercent
    parts = [(up, 0.5), (constant, 1), (down, 0.5)].filter { $0.0 > 0 }.map { time, share in
      Part(duration: .milliseconds(time), rate: rate * share)
    }
    // Without a time it goes on until it is stopped.
    if parts.isEmpty { rateAfterwards = rate }
  }
}
