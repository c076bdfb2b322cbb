// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: rules of alarms, as files and command lines may have them, on readings that a device may send.

import AccessoryCore

/// Called by libFuzzer with each input: up to the first line feed a rule, behind it readings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let parts = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
  let text = String(decoding: parts.first ?? [], as: UTF8.self)
  do throws(AlarmRuleError) {
    let rule = try AlarmRule(text)
    // What is written reads as the same rule.
    precondition((try? AlarmRule(rule.description)) == rule, "\(rule) is another rule when it is read again")
    run(rule, parts.count == 2 ? Array(parts[1]) : [])
  } catch {
    precondition(error.column >= 1 && error.column <= text.count + 1 && !error.message.isEmpty, "\(error)")
  }
  return 0
}

/// Feeds the rule with readings, of which each takes nine bytes: what it is, and its bits.
private func run(_ rule: AlarmRule, _ bytes: [UInt8]) {
  var now = MonotonicTime(nanoseconds: 0)
  var state = AlarmState(rule, now: now)
  func apply(_ change: AlarmChange?) {
    if let change { precondition((change == .raised) == state.isRaised) }
  }
  var rest = bytes[...]
  while rest.count >= 9 {
    let bits = rest.dropFirst().prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let number = Double(bitPattern: bits)
    switch rest[rest.startIndex] % 5 {
    case 0:
      var battery = BatteryReading(percent: Int(bits & 0xFF), millivolts: Int(truncatingIfNeeded: bits))
      battery.cellMillivolts = [Int(bits & 0xFFFF), nil, Int(bits >> 48)]
      battery.faults = [String(bits, radix: 36)]
      apply(state.take(AlarmReadings(battery: battery.bounded), now: now))
    case 1:
      var names = ["x", "temperature"]
      if case .number(.value(let name), _, _, _) = rule.condition { names.append(name) }
      let units = MeasurementUnit.known
      let values = names.map {
        AccessoryValue($0, unit: units[Int(bits % UInt64(units.count))], number: number)
      }
      apply(state.take(AlarmReadings(values: ValuesReading(values, at: now)), now: now))
    case 2: apply(state.heard(now: now))
    case 3: apply(state.take(AlarmReadings(), now: now))
    default:
      now = now + .nanoseconds(Int64(bits >> 1))
      apply(state.timePassed(now: now))
    }
    rest = rest.dropFirst(9)
  }
}
