// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of what was read over time, and the method that asks for it.

extension Bridge {
  /// A series as lists of equal length, which are a third as long as a list of points.
  package struct Series: Codable, Sendable, Hashable {
    package var name: String
    package var unit: String?
    /// Missing from an older service.
    package var importance: String?
    package var times, spans: [Double]
    package var means, least, greatest: [Double?]

    /// Converts a series to the wire format.
    package init(_ series: ReadingSeries) {
      (name, unit, importance) = (series.name, series.unit, series.importance.rawValue)
      (times, spans) = (series.points.map(\.time), series.points.map(\.span))
      means = series.points.map(\.mean)
      (least, greatest) = (series.points.map(\.least), series.points.map(\.greatest))
    }

    /// Converts the wire format to a series. `check` has made sure that the lists have the same length.
    package var series: ReadingSeries {
      let count = [times.count, spans.count, means.count, least.count, greatest.count].min() ?? 0
      return ReadingSeries(
        name: name, unit: unit,
        points: (0..<count).map {
          ReadingSeries.Point(
            time: times[$0], span: spans[$0], mean: means[$0], least: least[$0], greatest: greatest[$0])
        }, importance: importance.flatMap { Importance(rawValue: $0) })
    }
  }

  /// The energy of the hours with known power, as lists of equal length.
  package struct HourlyEnergy: Codable, Sendable, Hashable {
    /// The start of each hour, in seconds since 1970, in order.
    package var times: [Double]
    package var inWattHours, outWattHours: [Double]
    /// The time of each hour of which the power is known, in seconds.
    package var seconds: [Double]

    enum CodingKeys: String, CodingKey {
      case times, seconds
      case inWattHours = "in_wh"
      case outWattHours = "out_wh"
    }

    /// Converts the energy to the wire format.
    package init(_ energy: Energy) {
      let hours = energy.hours.sorted { $0.key < $1.key }
      times = hours.map { Double($0.key) * Energy.secondsOfHour }
      (inWattHours, outWattHours) = (hours.map(\.value.inWattHours), hours.map(\.value.outWattHours))
      seconds = hours.map(\.value.seconds)
    }

    /// Converts the wire format to energy. `check` has made sure that the lists have the same length.
    package var energy: Energy {
      var energy = Energy()
      for index in 0..<([times.count, inWattHours.count, outWattHours.count, seconds.count].min() ?? 0) {
        energy.hours[Int(times[index] / Energy.secondsOfHour)] = Energy.Amount(
          inWattHours: inWattHours[index], outWattHours: outWattHours[index], seconds: seconds[index])
      }
      return energy
    }
  }

  package struct GetHistory: ControlMethod {
    package static let method = "accessorybridge.Bridge.History"

    package struct Reply: Codable, Sendable, Hashable {
      /// Missing for an accessory that is no longer there.
      package var device: Device?
      package var series: [Series]
      /// Missing if it wasn't asked for, and from an older service.
      package var energy: HourlyEnergy?

      package init(device: Device?, series: [Series], energy: HourlyEnergy? = nil) {
        self.device = device
        self.series = series
        self.energy = energy
      }
    }

    package var device: String?
    package var names: [String]?
    package var since: Double?
    package var energy: Bool?
    package var step: Double?

    /// Asks for the series of these names, nil for all; for the last `since` seconds, nil for 24 hours; with `energy` for the energy
    /// of each hour; and for points of at least `step` seconds each.
    package init(
      device: String? = nil, names: [String]? = nil, since: Double? = nil, energy: Bool? = nil, step: Double? = nil
    ) {
      self.device = device
      self.names = names
      self.since = since
      self.energy = energy
      self.step = step
    }
  }
}

extension ReplyLimits {
  /// The most series of an accessory: one for each value, and those of its battery.
  package static let series = ReadingLimits.values + ReadingSeries.batteryNames.count
  /// The most points of a series.
  package static let points = 4_096
  /// The most hours of energy: those of 400 days, and one that has begun.
  package static let hours = 9_602
}

extension Bridge.HourlyEnergy: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(times.count, 0...ReplyLimits.hours, "the number of times")
    for (field, count) in [
      ("in_wh", inWattHours.count), ("out_wh", outWattHours.count), ("seconds", seconds.count),
    ] {
      try ReplyLimits.check(count, times.count...times.count, "the number of \(field)")
    }
    for time in times { try ReplyLimits.check(time, ReplyLimits.seconds, "times") }
    for time in seconds { try ReplyLimits.check(time, 0...Energy.secondsOfHour, "seconds") }
    for (field, numbers) in [("in_wh", inWattHours), ("out_wh", outWattHours)] {
      for number in numbers where !number.isFinite || number < 0 { throw ReplyNumberError(field, number) }
    }
  }
}

extension Bridge.Series: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(length: name, ReadingLimits.nameBytes, "name")
    try ReplyLimits.check(length: unit, ReadingLimits.unitBytes, "unit")
    try ReplyLimits.check(length: importance, ReadingLimits.nameBytes, "importance")
    try ReplyLimits.check(times.count, 0...ReplyLimits.points, "the number of times")
    for (field, count) in [
      ("spans", spans.count), ("means", means.count), ("least", least.count), ("greatest", greatest.count),
    ] {
      try ReplyLimits.check(count, times.count...times.count, "the number of \(field)")
    }
    for time in times { try ReplyLimits.check(time, ReplyLimits.seconds, "times") }
    for span in spans { try ReplyLimits.check(span, ReplyLimits.seconds, "spans") }
    for (field, numbers) in [("means", means), ("least", least), ("greatest", greatest)] {
      for number in numbers { if let number, !number.isFinite { throw ReplyNumberError(field, number) } }
    }
    for (time, next) in zip(times, times.dropFirst()) where next < time { throw ReplyNumberError("times", next) }
  }
}

extension Bridge.GetHistory.Reply: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(series.count, 0...ReplyLimits.series, "the number of series")
    for one in series { try one.check() }
    try energy?.check()
  }
}
