// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The batteries of all accessories, for `battery --all --json`.
package struct BatteryListDocument: Encodable {
  /// One accessory: its battery, or the error that prevented reading it.
  package struct Entry: Encodable {
    let device: DeviceDocument
    let battery: BatteryReading?
    let age_ms: Int?
    let stale: Bool
    /// What the reading lacks because the accessory didn't answer or send it in time; null if nothing is missing.
    let missing: String?
    /// Of a UPS, what its supply and its load are.
    let values: ReadValues?
    let error: PublishedError?

    /// Creates an entry. A reading without an age was made just now.
    package init(
      _ device: DeviceDocument, _ read: Read<BatteryReading>?, supply: ReadValues? = nil, error: AccessoryError?
    ) {
      values = supply
      (self.device, battery, stale, missing) = (device, read?.value, read?.isStale ?? false, read?.missing)
      age_ms = read.map { $0.age?.inMilliseconds ?? 0 }
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
