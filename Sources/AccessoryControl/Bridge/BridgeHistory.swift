// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of what was read over time, and the method that asks for it.

extension Bridge {
  /// A series as lists of equal length, which are a third as long as a list of points.
  package struct Series: Codable, Sendable, Hashable {
    package var name: String
    package var unit: String?
    package var times, spans: [Double]
    package var means, least, greatest: [Double?]

    /// Converts a series to the wire format.
    package init(_ series: ReadingSeries) {
      (name, unit) = (series.name, series.unit)
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
        })
    }
  }

  package struct GetHistory: ControlMethod {
    package static let method = "accessorybridge.Bridge.History"

    package struct Reply: Codable, Sendable, Hashable {
      /// Missing for an accessory that is no longer there.
      package var device: Device?
      package var series: [Series]

      package init(device: Device?, series: [Series]) {
        self.device = device
        self.series = series
      }
    }

    package var device: String?
    package var names: [String]?
    package var since: Double?

    /// Asks for the series of these names, nil for all; and for the last `since` seconds, nil for all that is kept.
    package init(device: String? = nil, names: [String]? = nil, since: Double? = nil) {
      self.device = device
      self.names = names
      self.since = since
    }
  }
}

extension ReplyLimits {
  /// The most series of an accessory: one for each value, and those of its battery.
  package static let series = ReadingLimits.values + ReadingSeries.batteryNames.count
  /// The most points of a series.
  package static let points = 4_096
}

extension Bridge.Series: CheckedReply {
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(length: name, ReadingLimits.nameBytes, "name")
    try ReplyLimits.check(length: unit, ReadingLimits.unitBytes, "unit")
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
  }
}
