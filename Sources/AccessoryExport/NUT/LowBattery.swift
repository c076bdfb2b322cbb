// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Whether a UPS's battery is low, and from where on.
///
/// The UPS's own word counts first: its flags, then its limits. The owner's limit makes it low earlier. Only where neither the UPS nor the
/// owner says anything it is low up to a fixed percentage.
package struct LowBattery: Sendable, Hashable {
  package let isLow: Bool
  /// The charge in percent up to which it is low: `battery.charge.low`; nil where only flags or the time count.
  package let percent: Int?
  /// The remaining time in seconds up to which it is low: `battery.runtime.low`.
  package let seconds: Int?

  /// `isSaid` is the accessory's flag; nil where it has none.
  init(_ battery: BatteryReading?, _ values: ValuesReading, isSaid: Bool?, limit: LowLimit?) {
    func told(_ term: RoleTerm, _ range: ClosedRange<Int>) -> Int? {
      values.value(term)?.number.flatMap { Int(exactly: $0.rounded()) }.flatMap { range.contains($0) ? $0 : nil }
    }
    func greatest(_ told: Int?, _ wanted: Int?) -> Int? { [told, wanted].compactMap { $0 }.max() }
    let toldPercent = told(Vocabulary.lowCharge, LowLimit.percents)
    let toldSeconds = told(Vocabulary.lowRuntime, LowLimit.times)
    // A UPS that has a good charge and no time at all doesn't know its time, as some don't just after an outage has begun.
    let hasCharge = (battery?.percent ?? 0) > BatteryReading.Level.lowPercent
    let runtime = battery?.timeToEmpty.map { Int(clamping: $0.components.seconds) }.flatMap {
      $0 == 0 && hasCharge ? nil : $0
    }
    // A level that was derived from the percentage is ours, not the accessory's.
    let level = battery.flatMap { $0.derived.contains(.level) && $0.percent != nil ? nil : $0.level }
    let hasLevel = level != nil && level != .unknown
    let wanted = greatest(toldPercent, limit?.percent)
    seconds = greatest(toldSeconds, limit?.seconds)
    // A limit of what isn't known answers nothing.
    let isAnswered =
      isSaid != nil || hasLevel || wanted != nil && battery?.percent != nil || seconds != nil && runtime != nil
    percent = wanted ?? (isAnswered || battery?.percent == nil ? nil : BatteryReading.Level.lowPercent)
    func isReached(_ value: Int?, _ limit: Int?) -> Bool { if let value, let limit { value <= limit } else { false } }
    isLow =
      isSaid == true || level == .low || level == .critical || isReached(battery?.percent, percent)
      || isReached(runtime, seconds)
  }
}
