// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyHIDPower

/// The state of a simulated UPS, and its reports. A value without I/O or clock.
public struct UPSState: Sendable, Hashable {
  /// The charge in percent, 0…100.
  public var percent: Double
  /// Whether there is input power.
  public var hasMains = true
  /// How long a full battery lasts at the present load, in seconds.
  public var fullRunTime: Double
  /// The load in percent.
  public var load = 17
  /// The number of the beeper's setting: 1 is off, 2 on, 3 muted.
  public internal(set) var beeper = 2
  /// The number of the last test's result: 1 is passed, 5 in progress, 6 none.
  public internal(set) var test = 6
  /// The delay before the output is switched off, in the field's own unit; -1 for none.
  public internal(set) var shutdownDelay = -1

  /// The nominal voltage of its battery.
  public var nominalVoltage = 24.0
  /// A factor for the reported battery voltage, to simulate wrong firmware.
  public var voltageFactor = 1.0

  /// A UPS on mains power with this charge.
  public init(percent: Double = 100, fullRunTime: Double = 2_400) {
    (self.percent, self.fullRunTime) = (min(100, max(0, percent)), max(1, fullRunTime))
  }

  /// The charge in percent below which a UPS reports a low battery.
  private static let lowLimit = 20.0

  /// Advances the time: the battery is discharged, or charged at a tenth of that speed.
  public mutating func advance(seconds: Double) {
    let change = seconds / fullRunTime * 100
    percent = hasMains ? min(100, percent + change / 10) : max(0, percent - change)
  }

  /// The reports of these kinds with their values, each with its number in front, in the order of their numbers.
  func reports(
    _ kinds: Set<HIDReportField.Kind>, of descriptor: HIDReportDescriptor
  ) -> [(HIDReportField.Kind, [UInt8])] {
    let wanted = descriptor.sizes.keys.filter { kinds.contains($0.kind) }
      .sorted { ($0.kind.rawValue, $0.number) < ($1.kind.rawValue, $1.number) }
    return wanted.map { report in
      var bytes = [UInt8](repeating: 0, count: descriptor.byteCount(of: report) ?? 1)
      bytes[0] = report.number
      for field in descriptor.fields where field.kind == report.kind && field.report == report.number {
        if let number = number(of: field) { _ = field.put(number, into: &bytes) }
      }
      return (report.kind, bytes)
    }
  }

  /// The current number of a field; nil for fields that aren't simulated, which stay 0.
  private func number(of field: HIDReportField) -> Int64? {
    if let flag = flag(field.usage) { return flag ? 1 : 0 }
    switch field.usage {
    case PowerUsage.audibleAlarm: return Int64(beeper)
    case PowerUsage.test: return Int64(test)
    case PowerUsage.delayBeforeShutdown, PowerUsage.apcDelayBeforeShutdown: return Int64(shutdownDelay)
    case PowerUsage.delayBeforeStartup, PowerUsage.delayBeforeReboot: return -1
    case PowerUsage.capacityMode: return 2
    default:
      guard let amount = amount(field) else { return nil }
      return field.number(for: amount) ?? field.logical.upperBound
    }
  }

  private func flag(_ usage: HIDUsage) -> Bool? {
    switch usage {
    case PowerUsage.acPresent: hasMains
    case PowerUsage.charging: hasMains && percent < 100
    case PowerUsage.discharging: !hasMains
    case PowerUsage.belowCapacityLimit: percent < Self.lowLimit
    case PowerUsage.fullyCharged: percent >= 100
    case PowerUsage.fullyDischarged: percent <= 0
    case PowerUsage.batteryPresent: true
    case PowerUsage.shutdownImminent: !hasMains && percent < 5
    case PowerUsage.needReplacement, PowerUsage.overload, PowerUsage.boost, PowerUsage.buck: false
    case PowerUsage.timeLimitExpired: !hasMains && percent / 100 * fullRunTime < 300
    default: nil
    }
  }

  private func amount(_ field: HIDReportField) -> Double? {
    let isInput = field.path.contains(PowerUsage.input)
    let isOutput = field.path.contains(PowerUsage.output)
    switch field.usage {
    case PowerUsage.remainingCapacity: return percent.rounded(.down)
    case PowerUsage.fullChargeCapacity: return 100
    case PowerUsage.runTimeToEmpty: return (percent / 100 * fullRunTime).rounded(.down)
    case PowerUsage.remainingTimeLimit: return 300
    case PowerUsage.remainingCapacityLimit: return Self.lowLimit
    case PowerUsage.warningCapacityLimit: return 50
    case PowerUsage.voltage:
      if isInput { return hasMains ? 230 : 0 }
      return isOutput ? 230 : ((22 + percent / 100 * 5) / 24 * nominalVoltage * voltageFactor * 10).rounded() / 10
    case PowerUsage.configVoltage: return isInput || isOutput ? 230 : nominalVoltage
    case PowerUsage.frequency: return 50
    case PowerUsage.percentLoad: return Double(load)
    case PowerUsage.configActivePower: return 450
    default: return nil
    }
  }

  /// Applies a feature report from the host. Returns the usages that it has set.
  mutating func take(_ report: [UInt8], of descriptor: HIDReportDescriptor) -> Set<HIDUsage> {
    var usages: Set<HIDUsage> = []
    for field in descriptor.fields where field.kind == .feature && field.report == report.first {
      guard let value = field.value(in: report) else { continue }
      switch field.usage {
      case PowerUsage.audibleAlarm: beeper = Int(value)
      // 1 and 2 start a test, and 5 reports that it is in progress; 3 aborts it.
      case PowerUsage.test: test = value == 3 ? 4 : 5
      case PowerUsage.delayBeforeShutdown, PowerUsage.apcDelayBeforeShutdown: shutdownDelay = Int(value)
      default: continue
      }
      usages.insert(field.usage)
    }
    return usages
  }
}
