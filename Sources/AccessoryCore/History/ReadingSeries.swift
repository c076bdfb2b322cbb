// SPDX-License-Identifier: Apache-2.0

/// What was read of one quantity of an accessory, over time: for graphs. The points are in the order of their times and
/// don't overlap.
public struct ReadingSeries: Sendable, Hashable {
  /// What was read in one span of time.
  public struct Point: Sendable, Hashable {
    /// The beginning of the span, in seconds since 1970, UTC.
    public var time: Double
    /// The length of the span, in seconds.
    public var span: Double
    /// The mean of the readings; nil where nothing was read (a gap), as in the two below.
    public var mean: Double?
    /// The least reading.
    public var least: Double?
    /// The greatest reading.
    public var greatest: Double?

    /// A point of these parts.
    public init(time: Double, span: Double, mean: Double?, least: Double?, greatest: Double?) {
      self.time = time
      self.span = span
      self.mean = mean
      self.least = least
      self.greatest = greatest
    }

    /// A point for one reading; nil for a gap.
    public init(time: Double, span: Double, _ value: Double?) {
      self.init(time: time, span: span, mean: value, least: value, greatest: value)
    }

    /// The end of the span, in seconds since 1970, UTC.
    public var end: Double { time + span }
  }

  /// The name of the charge in percent.
  public static let percent = "battery.percent"
  /// The name of the battery's voltage, in volts.
  public static let voltage = "battery.voltage"
  /// The name of the battery's current, in amperes; negative while discharging.
  public static let current = "battery.current"
  /// The name of the battery's temperature, in degrees Celsius: the highest of its temperatures.
  public static let temperature = "battery.temperature"
  /// The names of the series of a battery.
  public static let batteryNames = Vocabulary.kept.compactMap(\.series)

  /// The published key of the battery's quantity in a series: "voltage_mv" for "battery.voltage"; nil for a series of a value.
  package static func key(of name: String) -> String? { Vocabulary.kept.first { $0.series == name }?.key }
  /// The name of the series of a battery's quantity that is published by this key.
  package static func name(ofKey key: String) -> String? { Vocabulary.kept.first { $0.key == key }?.series }

  /// "battery.percent", "battery.voltage", "battery.current", "battery.temperature", or the name of a value.
  public var name: String
  /// The symbol of the unit; nil where there is none.
  public var unit: String?
  /// The points in the order of their times; gaps are points without numbers.
  public var points: [Point]
  /// How much the quantity matters to people.
  public var importance: Importance

  /// A series of these parts. Without an importance it has the one that its name or its unit implies.
  public init(name: String, unit: String? = nil, points: [Point] = [], importance: Importance? = nil) {
    self.name = name
    self.unit = unit
    self.points = points
    self.importance = importance ?? Importance(ofSeries: name, unit)
  }

  /// The least and the greatest reading; nil where nothing was read.
  public var range: ClosedRange<Double>? {
    var range: (least: Double, greatest: Double)?
    for point in points {
      guard let least = point.least, let greatest = point.greatest, least <= greatest, least.isFinite, greatest.isFinite
      else { continue }
      range = range.map { (min($0.least, least), max($0.greatest, greatest)) } ?? (least, greatest)
    }
    return range.map { $0.least...$0.greatest }
  }

  /// The last point with a reading.
  public var last: Point? { points.last { $0.mean?.isFinite == true } }
}

extension Importance {
  /// The importance of a quantity of the battery, or what the name and the unit of a value imply.
  fileprivate init(ofSeries name: String, _ symbol: String?) {
    if let term = Vocabulary.kept.first(where: { $0.series == name }) {
      self = term.importance
    } else {
      let unit = symbol.map { MeasurementUnit(rawValue: $0) }
      self.init(of: name, unit.flatMap { Vocabulary.quantity(impliedBy: $0) }, unit, nil)
    }
  }
}

extension [ReadingSeries] {
  /// The series that are drawn where nobody says which: what people look for first, then the rest of an overview. If there is none of
  /// them, what changes at all.
  package var drawn: [ReadingSeries] {
    let overview = filter { $0.importance <= .shown }
    let chosen = overview.isEmpty ? filter { !$0.importance.isConstant } : overview
    return chosen.filter { $0.importance == .headline } + chosen.filter { $0.importance != .headline }
  }
}

extension BatteryReading {
  /// The numbers of a reading that a history keeps, each with the name of its series and its unit.
  package var historyValues: [(name: String, unit: String, value: Double)] {
    var values: [(name: String, unit: String, value: Double)] = []
    for term in Vocabulary.kept {
      guard let name = term.series, let value = term.value(in: self) else { continue }
      values.append((name, term.measure?.unit?.rawValue ?? "", value))
    }
    return values
  }
}

extension AccessoryValue {
  /// The number that a history keeps of a value; nil for a word, a text or a flag, which have no mean, and for a value
  /// that would take the name of a battery's series.
  package var historyNumber: Double? {
    guard case .number(let number) = content, number.isFinite, !ReadingSeries.batteryNames.contains(name) else {
      return nil
    }
    return number
  }
}
