// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What was read of an accessory over time, for `--history --json`.
package struct HistoryDocument: Encodable {
  struct Point: Encodable {
    let time, span_s: Double
    let mean, least, greatest: OrNull<Double>
  }

  struct Series: Encodable {
    let name: String
    /// The key of the battery's field in other documents; null for a value.
    let field: OrNull<String>
    let unit: OrNull<String>
    let points: [Point]
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.history
  let time: Double
  /// Null for an accessory that is no longer there.
  let device: OrNull<DeviceDocument>
  /// How far back the series may reach.
  let seconds: Double
  let series: [Series]

  /// The series of an accessory; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument?, seconds: Double, _ series: [ReadingSeries], at time: Double = WallClock.seconds
  ) {
    self.time = time
    self.device = OrNull(device)
    self.seconds = seconds
    self.series = series.map { one in
      Series(
        name: one.name, field: OrNull(ReadingSeries.key(of: one.name)), unit: OrNull(one.unit),
        points: one.points.map {
          Point(
            time: $0.time, span_s: $0.span, mean: OrNull($0.mean), least: OrNull($0.least),
            greatest: OrNull($0.greatest))
        })
    }
  }
}
