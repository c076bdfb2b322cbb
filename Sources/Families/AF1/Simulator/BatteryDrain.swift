// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// A battery that drains.
struct BatteryDrain: Sendable {
  /// The rate, in percent per second.
  let rate: Double
  private let start: AF1BatteryReply

  /// A battery that starts in the state `start` and drains at `rate` percent per second.
  init(from start: AF1BatteryReply, rate: Double) {
    self.start = start
    self.rate = rate
  }

  /// The time until the battery has lost n percent; nil when it is empty before that.
  func moment(ofLoss n: Int) -> Duration? {
    guard rate > 0, n <= Int(start.percent ?? 100) else { return nil }
    return .nanoseconds(Int64(Double(n) / rate * 1e9))
  }

  /// The battery's state after losing n percent. The voltage falls by 9 mV for each percent, as in a lithium cell.
  func reading(afterLoss n: Int) -> AF1BatteryReply {
    let before = Int(start.percent ?? 100)
    let percent = max(0, before - n)
    return AF1BatteryReply(
      level: percent <= 20 ? .low : percent < 80 ? .normal : .high, percent: UInt8(percent),
      millivolts: start.millivolts.map { UInt16(max(2_500, Int($0) - 9 * (before - percent))) },
      charge: .discharging)
  }
}
