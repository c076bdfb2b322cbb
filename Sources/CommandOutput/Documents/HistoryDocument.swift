// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The readings of an accessory over time, for `--history --json`.
package struct HistoryDocument: Encodable {
  struct Point: Encodable {
    let time, span_s: Double
    let mean, least, greatest: Double?
  }

  struct Series: Encodable {
    let name: String
    /// The key of the battery's field in other documents; null for a value.
    let field: String?
    let unit: String?
    let points: [Point]
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.history
  let time: Double
  /// Null for an accessory that is gone.
  let device: DeviceDocument?
  /// The requested length of the history, in seconds.
  let seconds: Double
  let series: [Series]

  /// The series of an accessory; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument?, seconds: Double, _ series: [ReadingSeries], at time: Double = WallClock.seconds
  ) {
    self.time = time
    self.device = device
    self.seconds = seconds
    self.series = series.map { one in
      Series(
        name: one.name, field: ReadingSeries.key(of: one.name), unit: one.unit,
        points: one.points.map {
          Point(
            time: $0.time, span_s: $0.span, mean: $0.mean, least: $0.least,
            greatest: $0.greatest)
        })
    }
  }
}
