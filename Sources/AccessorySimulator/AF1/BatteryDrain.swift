// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A battery that runs down.
struct BatteryDrain: Sendable {
  /// Percent a second.
  let rate: Double
  private let start: AF1BatteryReply

  /// A battery that begins with `start` and loses `rate` percent a second.
  init(from start: AF1BatteryReply, rate: Double) {
    self.start = start
    self.rate = rate
  }

  /// Time until the battery has lost its nth whole percent; nil when it is empty by then.
  func moment(ofLoss n: Int) -> Duration? {
    guard rate > 0, n <= Int(start.percent ?? 100) else { return nil }
    return .nanoseconds(Int64(Double(n) / rate * 1e9))
  }

  /// The battery without n percent. Its level follows, and its voltage, as that of a lithium cell: about 9 mV a percent.
  func reading(afterLoss n: Int) -> AF1BatteryReply {
    let before = Int(start.percent ?? 100)
    let percent = max(0, before - n)
    return AF1BatteryReply(
      level: percent <= 20 ? .low : percent < 80 ? .normal : .high, percent: UInt8(percent),
      millivolts: start.millivolts.map { UInt16(max(2_500, Int($0) - 9 * (before - percent))) },
      charge: .discharging)
  }
}
