// SPDX-License-Identifier: Apache-2.0

/// The last readings of an accessory, for its rules.
public struct AlarmReadings: Sendable {
  /// The battery; nil while nothing is known of it.
  public var battery: BatteryReading?
  /// The status; nil while nothing is known of it.
  public var status: AccessoryStatus?
  /// The values; nil while nothing is known of them.
  public var values: ValuesReading?

  /// Readings of these parts.
  public init(battery: BatteryReading? = nil, status: AccessoryStatus? = nil, values: ValuesReading? = nil) {
    (self.battery, self.status, self.values) = (battery, status, values)
  }

  /// What a subject is, as a value with its unit: a number, or a word; nil while it is unknown. `isBelow`: of several
  /// cells or temperatures the lowest one counts, otherwise the highest one.
  func value(_ subject: AlarmSubject, isBelow: Bool) -> AccessoryValue? {
    switch subject {
    case .value(let name): return values?[name].map(\.value)
    case .part(let part):
      if let content = part.phrase.content(self, isBelow) {
        return AccessoryValue(part.rawValue, unit: part.unit, content: content)
      }
      return part.mayBeValue ? values?[part.rawValue].map(\.value) : nil
    }
  }

  /// The names of all faults: the battery's, the status's number, and the values that say that something is wrong. Nil
  /// while none of these parts is known.
  var faults: [String]? {
    let flags = values?.values.filter { $0.quantity == .problem && $0.content != nil } ?? []
    // A status without a state and without faults says nothing of either.
    let saysFaults = status.map { $0.state != nil || $0.reportsFaults } ?? false
    guard battery?.faults != nil || saysFaults || !flags.isEmpty else { return nil }
    var names = battery?.faults ?? []
    if let code = status?.faultCode {
      names.append("\(code)")
    } else if status?.state == .fault {
      names.append("fault")
    }
    for flag in flags where flag.content == .flag(true) { names.append(flag.name) }
    return names
  }
}

/// What raised an alarm, or what the reading is now.
public struct AlarmValue: Sendable, Hashable, CustomStringConvertible {
  /// For people: "12 %", "over_temperature". Texts of the accessory are as it sent them; escape them before showing.
  public var text: String
  /// The number, in the rule's unit; nil for words and names.
  public var number: Double?
  /// The number's unit; nil where there is none.
  public var unit: MeasurementUnit?

  /// A value of these parts.
  public init(text: String, number: Double? = nil, unit: MeasurementUnit? = nil) {
    (self.text, self.number, self.unit) = (text, number, unit)
  }

  /// A number with its unit, rounded to thousandths.
  init(_ number: Double, _ unit: MeasurementUnit?) {
    let rounded = number.magnitude < 1e12 ? (number * 1_000).rounded() / 1_000 : number
    self.init(
      text: (Int(exactly: rounded).map { "\($0)" } ?? "\(rounded)") + (unit.map { " \($0)" } ?? ""), number: rounded,
      unit: unit)
  }

  /// The text.
  public var description: String { text }
}
