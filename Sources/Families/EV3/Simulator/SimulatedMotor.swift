// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySimulator
import FamilyEV3

/// A simulated motor. Its speed is 10 degrees per second for each percent, about that of LEGO's large motor without load.
struct SimulatedMotor: Sendable, Hashable {
  /// A period of constant speed; `rate` is in degrees per second.
  private struct Part: Sendable, Hashable {
    var duration: Duration
    var rate: Double
  }

  /// The speed that was set, in percent. It takes effect with `start`.
  private var setting = 0
  private var polarity = 1
  private var isBraking = false
  /// The position at `since`, in degrees.
  private var position = 0.0
  private var since = MonotonicTime(nanoseconds: 0)
  /// The periods since `since`, in order, and the speed after them in degrees per second.
  private var parts: [Part] = []
  private var rateAfterwards = 0.0
  /// The positions from which the counts are measured, in degrees.
  private var tachoStart = 0.0
  private var countStart = 0.0

  static let degreesPerPercent = 10.0

  // MARK: - Current state

  /// The position at a time, in degrees since the motor was plugged in.
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

  /// The speed in percent of the full speed.
  func speed(_ now: MonotonicTime) -> Int {
    var time = now - since
    for part in parts {
      if time < part.duration { return Int((part.rate / Self.degreesPerPercent).rounded()) * polarity }
      time -= part.duration
    }
    return Int((rateAfterwards / Self.degreesPerPercent).rounded()) * polarity
  }

  /// When the current movement ends; nil when it has ended, or has no end.
  func end(_ now: MonotonicTime) -> MonotonicTime? {
    let end = parts.reduce(since) { $0 + $1.duration }
    return end > now ? end : nil
  }

  // MARK: - Commands

  private mutating func settle(_ now: MonotonicTime) {
    (position, since) = (degrees(now), now)
    (parts, rateAfterwards) = ([], 0)
  }

  mutating func set(_ percent: Int) { setting = max(-100, min(100, percent)) }

  mutating func start(_ now: MonotonicTime) {
    settle(now)
    rateAfterwards = Double(setting * polarity) * Self.degreesPerPercent
  }

  /// Sets the speed. A motor that runs without an end changes its speed at once.
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

  /// Turns by these numbers of degrees: `up` and `down` at half the speed, `constant` at the full one.
  mutating func step(percent: Int, up: Int, constant: Int, down: Int, brake: Bool, _ now: MonotonicTime) {
    settle(now)
    isBraking = brake
    let rate = Double(max(-100, min(100, percent)) * polarity) * Self.degreesPerPercent
    guard rate != 0 else { return }
    let shares: [(degrees: Int, share: Double)] = [(up, 0.5), (constant, 1), (down, 0.5)]
    parts = shares.filter { $0.degrees > 0 }.map { degrees, share in
      Part(duration: .nanoseconds(Int64(Double(degrees) / abs(rate * share) * 1e9)), rate: rate * share)
    }
  }

  /// Turns for these numbers of milliseconds: `up` and `down` at half the speed, `constant` at the full one.
  mutating func run(percent: Int, up: Int, constant: Int, down: Int, brake: Bool, _ now: MonotonicTime) {
    settle(now)
    isBraking = brake
    let rate = Double(max(-100, min(100, percent)) * polarity) * Self.degreesPerPercent
    parts = [(up, 0.5), (constant, 1), (down, 0.5)].filter { $0.0 > 0 }.map { time, share in
      Part(duration: .milliseconds(time), rate: rate * share)
    }
    // Without times the motor turns until it is stopped.
    if parts.isEmpty { rateAfterwards = rate }
  }
}
