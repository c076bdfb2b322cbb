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
    let importance: String
    let points: [Point]
  }

  struct Energy: Encodable {
    struct Day: Encodable {
      /// The day, in local time.
      let day: String
      let in_wh, out_wh, missing_h: Double
    }

    let in_wh, out_wh, missing_h: Double
    let days: [Day]
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.history
  let time: Double
  /// Null for an accessory that is gone.
  let device: DeviceDocument?
  /// The requested length of the history, in seconds.
  let seconds: Double
  let series: [Series]
  /// Null if the power is unknown: no voltage or no current was read, or the service is too old.
  let energy: Energy?

  /// The series of an accessory and the energy of its battery; `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument?, seconds: Double, _ series: [ReadingSeries], _ energy: AccessoryCore.Energy? = nil,
    at time: Double = WallClock.seconds
  ) {
    let table = energy.flatMap { $0.hours.isEmpty ? nil : EnergyTable($0, time: (time - seconds)...time) }
    self.energy = table.map { table in
      Energy(
        in_wh: table.total.inWattHours, out_wh: table.total.outWattHours, missing_h: table.total.missingHours,
        days: table.days.map {
          .init(day: $0.day, in_wh: $0.inWattHours, out_wh: $0.outWattHours, missing_h: $0.missingHours)
        })
    }
    self.time = time
    self.device = device
    self.seconds = seconds
    self.series = series.map { one in
      Series(
        name: one.name, field: ReadingSeries.key(of: one.name), unit: one.unit,
        importance: one.importance.rawValue,
        points: one.points.map {
          Point(
            time: $0.time, span_s: $0.span, mean: $0.mean, least: $0.least,
            greatest: $0.greatest)
        })
    }
  }
}
