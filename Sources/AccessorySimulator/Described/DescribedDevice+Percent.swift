// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// The battery's charge. Where the protocol has no field for it, it is set in what readers derive it from.
extension DescribedDevice {
  /// Sets the battery's charge in percent: its own field or, without one, what readers derive it from: the remaining
  /// capacity, or the voltage. What depends on the charge follows. Returns false, and changes nothing, when the device
  /// sends none of them.
  @discardableResult
  public mutating func set(percent: Int) -> Bool {
    let isSet = setCharge(percent)
    if isSet { chosenPercent = percent }
    return isSet
  }

  /// Takes one percent from the battery. What is sent may be too coarse for one percent, so the charge that was set counts.
  mutating func drain() {
    if let percent = chosenPercent ?? percent, percent > 0 { set(percent: percent - 1) }
  }

  private mutating func setCharge(_ percent: Int) -> Bool {
    let (before, earlier) = (reported(), values)
    if field("battery.percent") != nil {
      values["battery.percent"] = .whole(percent)
      let now = reported()
      // A message may have the field only for some models.
      let beside = description.messages.filter { $0.fieldNames.contains("battery.percent") }.flatMap(\.fieldNames)
      guard now["battery.percent"] != nil || !beside.contains(where: { now[$0] != nil }) else {
        values = earlier
        return false
      }
    } else if derive("battery.percent", Double(percent), before, before: description.derived.count) {
      setLowWarning(percent <= 20)
    } else {
      guard field("battery.remaining") != nil, let full = before["battery.full"]?.asNumber else { return false }
      values["battery.remaining"] = .number(full * Double(percent) / 100)
    }
    followCharge(from: before)
    return true
  }

  /// Makes what depends on the charge agree with it: the remaining capacity, what was taken from the full battery, and
  /// the time until it is empty. `before` are the values that were reported before the charge was changed.
  mutating func followCharge(from before: [String: PlainValue]) {
    var now = reported()
    guard let percent = now["battery.percent"]?.asNumber, (0...100).contains(percent),
      let capacity = Self.capacity(now["battery.full"], before)
    else { return }
    let left = capacity * percent / 100
    if let remaining = now["battery.remaining"]?.asNumber, abs(remaining - left) * 100 > capacity / 2 {
      _ = derive("battery.remaining", left, now, before: description.derived.count)
    }
    if let consumed = now["consumed"]?.asNumber, field("consumed")?.unit == "Ah" {
      values["consumed"] = Self.rounded(consumed > 0 ? capacity - left : left - capacity, places: 3)
    }
    now = reported()
    guard let current = now["battery.current"]?.asNumber, current < 0 else { return }
    let minutes = left / -current * 60
    // Not all fields can hold a longer time.
    guard minutes < 36_000 else { return }
    for name in ["battery.time_to_empty", "hours_left"] where now[name] != nil {
      guard let field = field(name) else { continue }
      switch field.unit {
      case "s": values[name] = Self.rounded(minutes * 60, places: 0)
      case "min": values[name] = Self.rounded(minutes, places: 0)
      default: values[name] = Self.rounded(minutes / 60, places: 2)
      }
    }
    guard now["minutes_left"] != nil else { return }
    values["hours_left"] = .number((minutes / 60).rounded(.down))
    values["minutes_left"] = .number(minutes.truncatingRemainder(dividingBy: 60).rounded(.down))
  }

  private static func rounded(_ number: Double, places: Int) -> PlainValue {
    let factor = (0..<places).reduce(1.0) { power, _ in power * 10 }
    return .number((number * factor).rounded() / factor)
  }

  /// The capacity of the full battery in ampere hours: as it is reported now or, without that, as it follows from the
  /// charge and the capacity that were reported before. Nil when it isn't known.
  private static func capacity(_ full: PlainValue?, _ before: [String: PlainValue]) -> Double? {
    if let full = full?.asNumber, full > 0 { return full }
    guard let percent = before["battery.percent"]?.asNumber else { return nil }
    if let remaining = before["battery.remaining"]?.asNumber, remaining > 0, percent > 0 {
      return remaining / percent * 100
    }
    guard let consumed = before["consumed"]?.asNumber, consumed != 0, percent < 100 else { return nil }
    return abs(consumed) / (100 - percent) * 100
  }

  /// The battery's charge in percent, as readers see it; nil when it isn't known.
  public var percent: Int? {
    if let percent = values["battery.percent"]?.asNumber { return Int(exactly: percent.rounded()) }
    let reported = reported()
    if let percent = reported["battery.percent"]?.asNumber { return Int(exactly: percent.rounded()) }
    guard let remaining = reported["battery.remaining"]?.asNumber, let full = reported["battery.full"]?.asNumber,
      full > 0
    else { return nil }
    return Int(exactly: (remaining / full * 100).rounded())
  }

  /// The values that a reader has who asks what the description's plan asks: what is sent, and what is derived from it.
  /// A value that the device has isn't always sent: a field may depend on another one.
  func reported() -> [String: PlainValue] {
    guard var twin = try? DescribedDevice(description, serialNumber: serialNumber),
      let codec = try? DescribedCodec(description)
    else { return [:] }
    (twin.values, twin.elements, twin.unit) = (values, elements, unit)
    let writer = RequestEncoder(codec)
    var described = description
    var reported: [String: PlainValue] = [:]
    func read(_ effects: [SerialEffect<Self>], _ request: Int?) {
      let sent = effects.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
      var example = ProtocolDescription.Example(received: sent)
      (example.request, example.unit) = (request, unit)
      example.given = reported.compactMapValues { $0.asNumber.flatMap { Int(exactly: $0) } }
      described.examples = [example]
      guard let read = (try? ExampleCheck(described))?.values(0) else { return }
      reported.merge(read.values) { $1 }
    }
    for request in (description.plan.identify.map { [$0] } ?? []) + description.plan.polls.flatMap(\.requests) {
      guard let sent = try? writer.bytes(request, unit: unit).bytes else { continue }
      read(twin.take(sent), request)
    }
    for message in description.messages.indices where description.messages[message].isPushed {
      read(twin.perform(.push(message)), nil)
    }
    for derived in description.derivedValues(from: { reported[$0] }) { reported[derived.name] = derived.value }
    return reported
  }

  private func field(_ name: String) -> ProtocolDescription.Field? {
    description.messages.lazy.flatMap(\.fields).first { $0.name == name }
  }

  /// Changes the hidden field in a field's formula, which is a part of its number, such as the upper half, where the number can't be
  /// sent without that.
  private mutating func choosePart(of field: ProtocolDescription.Field, for number: Double) {
    var part: String?
    field.formula.root.visit { if case .name(let name) = $0, self.field(name)?.isHidden == true { part = name } }
    guard let part, let present = values[part]?.asNumber.flatMap({ Int(exactly: $0) }) else { return }
    let fitting = ([present] + Array(0...255)).first { candidate in
      field.formula.inverse(number, of: field) {
        $0 == part ? candidate : values[$0]?.asNumber.flatMap { Int(exactly: $0) }
      } != nil
    }
    if let fitting { values[part] = .whole(fitting) }
  }

  /// Sets the fields from which a value is derived so that it becomes this number. Only derivations before the one with
  /// the index `end` are considered. Returns false when it isn't derived from a field that can be set so.
  private mutating func derive(
    _ name: String, _ number: Double, _ reported: [String: PlainValue], before end: Int
  ) -> Bool {
    if let field = field(name) {
      values[name] = Self.rounded(number, places: 3)
      choosePart(of: field, for: number)
      return true
    }
    guard let place = description.derived[..<end].lastIndex(where: { $0.name == name }) else { return false }
    return solve(description.derived[place].formula.root, number, reported, before: place)
  }

  /// Sets the fields in a part of a formula so that the part becomes this number.
  private mutating func solve(
    _ part: ProtocolDescription.Formula.Node, _ number: Double, _ reported: [String: PlainValue], before end: Int
  ) -> Bool {
    func known(_ part: ProtocolDescription.Formula.Node) -> Double? {
      switch part {
      case .number(let number): number.value
      case .name(let name): reported[name]?.asNumber ?? description.parameter(name)?.number
      default: nil
      }
    }
    switch part {
    case .name(let name): return derive(name, number, reported, before: end)
    case .call(.first, let parts):
      // The one that is read now; another one only if none is.
      let isRead = { (part: ProtocolDescription.Formula.Node) in
        if case .name(let name) = part { (reported[name] ?? .nothing) != .nothing } else { true }
      }
      for part in parts.filter(isRead) + parts.filter({ !isRead($0) })
      where solve(part, number, reported, before: end) { return true }
      return false
    case .call(.percent, let parts) where parts.count == 2:
      guard let whole = known(parts[1]) else { return false }
      return solve(parts[0], whole * number / 100, reported, before: end)
    case .call(.percent, let parts) where parts.count == 3:
      let (least, most) = Self.leadBattery(of: known(parts[0]))
      let (empty, full) = (known(parts[1]) ?? least, known(parts[2]) ?? most)
      // A text has the voltage with as many digits as it needs.
      let volts = ((empty + (full - empty) * number / 100) * 100).rounded() / 100
      return solve(parts[0], volts, reported, before: end)
    case .call(.when, let parts):
      // Whether the condition holds for the number itself, as for a voltage that is only possible below a limit.
      if parts.count == 2, case .name(let name) = parts[1],
        !parts[0].mayHold(if: name, is: number)
      {
        return false
      }
      return parts.count == 2 && solve(parts[1], number, reported, before: end)
    case .operation(.times, let part, let factor):
      guard let factor = known(factor), factor != 0 else { return false }
      return solve(part, number / factor, reported, before: end)
    case .operation(.dividedBy, let part, let divisor):
      guard let divisor = known(divisor), divisor != 0 else { return false }
      return solve(part, number * divisor, reported, before: end)
    default: return false
    }
  }

  /// The voltages of an empty and a full lead battery, of as many blocks of 12 V as fit this voltage: for readers who
  /// gave no voltages of their own.
  private static func leadBattery(of volts: Double?) -> (empty: Double, full: Double) {
    let blocks = max(1, ((volts ?? 12) / 12).rounded())
    return (10.5 * blocks, 13.5 * blocks)
  }

  /// Sets or clears the flag that readers take for a low battery, where the protocol has one.
  private mutating func setLowWarning(_ isLow: Bool) {
    for derivation in description.derived where derivation.name == "battery.level" {
      guard case .call(.when, let parts) = derivation.formula.root, parts.count == 2, parts[1] == .text("low"),
        case .operation(.isIn, .text(let flag), .name(let name)) = parts[0], case .list(let flags)? = values[name]
      else { continue }
      values[name] = .list(flags.filter { $0 != .text(flag) } + (isLow ? [.text(flag)] : []))
    }
  }
}
