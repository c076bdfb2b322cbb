// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The batteries of all accessories, for `battery --all --json`.
package struct BatteryListDocument: Encodable {
  /// One accessory: its battery, or the error why that isn't known.
  package struct Entry: Encodable {
    let device: DeviceDocument
    let battery: BatteryReading?
    let age_ms: Int?
    let stale: Bool
    let error: ErrorDocument.Details?

    /// An entry. `age` is in milliseconds, nil for a reading of now.
    package init(
      _ device: DeviceDocument, _ reading: BatteryReading?, age: Int?, isStale: Bool, error: AccessoryError?
    ) {
      self.device = device
      battery = reading
      age_ms = reading == nil ? nil : age ?? 0
      stale = isStale
      self.error = error.map { ErrorDocument(ErrorReport($0)).error }
    }
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.batteryList
  let time: Double
  let batteries: [Entry]

  /// The batteries in the order of the accessories; `time` is in seconds since 1970, UTC.
  package init(_ batteries: [Entry], at time: Double = WallClock.seconds) {
    (self.time, self.batteries) = (time, batteries)
  }
}
