// SPDX-License-Identifier: Apache-2.0

/// What the numbers of a quantity can be. A number outside is unknown: an accessory sends such numbers for sensors that it doesn't
/// have, and one of another kind sends them all the time.
package struct PlausibleRange: Sendable, Hashable {
  package let range: ClosedRange<Double>
  /// How far above the range a number may be and still count as its end: a battery that counts its charge is at 101 percent for a
  /// while when it has just been charged.
  package let overrun: Double

  package init(_ range: ClosedRange<Double>, overrun: Double = 0) { (self.range, self.overrun) = (range, overrun) }

  /// The number that is told; nil where it can't be.
  package func told(_ number: Double) -> Double? {
    if range.contains(number) { return number }
    return number > range.upperBound && number <= range.upperBound + overrun ? range.upperBound : nil
  }

  /// The same range with its numbers multiplied.
  package func scaled(by factor: Double) -> PlausibleRange {
    func scaled(_ number: Double) -> Double { MeasurementUnit.multiply(number, by: factor) }
    return PlausibleRange(scaled(range.lowerBound)...scaled(range.upperBound), overrun: scaled(overrun))
  }
}

extension Vocabulary {
  /// What a number of a quantity can be, in its unit; nil where nothing is known of it. Without a quantity the unit implies it.
  package static func plausible(
    _ quantity: AccessoryValue.Quantity?, in unit: MeasurementUnit?
  ) -> PlausibleRange? {
    guard let unit else { return nil }
    guard let quantity = quantity ?? Vocabulary.quantity(impliedBy: unit) else {
      return unit == .percent ? anyPercentage : nil
    }
    guard let term = term(quantity), let range = term.plausible else { return nil }
    let own = term.implyingUnits.first ?? term.otherUnits.first ?? unit
    return own.convert(difference: 1, to: unit).map { range.scaled(by: $0) }
  }

  /// A part of a whole that is no humidity, such as a load or a motor's power: a UPS may be overloaded, a motor may run backwards.
  private static let anyPercentage = PlausibleRange(-200...200)

  /// What the temperatures in and at a battery can be: of its cells, its MOSFETs, and the box around them.
  package static let batteryTemperature = BatteryReading.Field.temperatures.term.measure?.plausible(in: .celsius)
}

extension AccessoryValue {
  /// The content within what the quantity can be; nil where it can't.
  var plausibleContent: Content? {
    guard case .number(let number) = content else { return content }
    guard let plausible = Vocabulary.plausible(quantity, in: unit) else { return number.isFinite ? content : nil }
    return plausible.told(number).map { .number($0) }
  }
}

extension BatteryReading {
  /// The reading within its bounds, as `bounded`, and what in it can't be: "voltage -3 V". Throws `badData` when much of it can't be,
  /// since then the rest isn't to be believed either. `label` is the accessory's name in the error.
  package func believed(from label: String) throws(AccessoryError) -> (reading: BatteryReading, implausible: [String]) {
    var evidence = Plausibility()
    for term in Vocabulary.battery { term.judge(self, &evidence) }
    if let disbelief = evidence.disbelief(in: "the battery reading of \(label)") { throw disbelief }
    return (bounded, evidence.implausible)
  }
}

/// How many numbers of a record were judged, and which of them can't be.
package struct Plausibility: Sendable, Hashable {
  /// Numbers that can't be, with their names and units: "battery.voltage 6553 V". At most `shownLimit`, and the first number of each
  /// name.
  package private(set) var implausible: [String] = []
  private var (known, wrong) = (0, 0)

  private static let shownLimit = 8
  /// A list counts as so many numbers at most: a wrong list of 16 cells alone is no wrong record.
  private static let listWeight = 4

  package init() {}

  /// Notes a number, or the numbers of a list, of which `count` are known and `wrong` can't be; `first` is the first of those.
  package mutating func note(_ name: String, known count: Int, wrong: Int, first: @autoclosure () -> String) {
    guard count > 0 else { return }
    let weight = min(count, Self.listWeight)
    known += weight
    self.wrong += weight * wrong / count
    if wrong > 0, implausible.count < Self.shownLimit { implausible.append("\(name) \(first())") }
  }

  /// Adds what was noted of another part of the record.
  package mutating func join(_ other: Plausibility) {
    known += other.known
    wrong += other.wrong
    implausible = Array((implausible + other.implausible).prefix(Self.shownLimit))
  }

  /// Whether the numbers that can be are to be believed: no more than one can't be, or less than a third.
  package var isBelievable: Bool { wrong < 2 || wrong * 3 < known }

  /// The error for a record that isn't believed; nil for one that is.
  package func disbelief(in record: @autoclosure () -> String) -> AccessoryError? {
    if isBelievable { return nil }
    return AccessoryError(
      .badData,
      "\(record()) makes no sense (\(implausible.prefix(3).joined(separator: ", "))), so none of it is shown. It may be another "
        + "kind of accessory, or one with a version of its software that isn't known")
  }
}
