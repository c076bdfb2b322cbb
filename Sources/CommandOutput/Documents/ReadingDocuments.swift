// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// A reading of an accessory, for `battery --json`, `status --json` and `values --json`. Its fields are those of the service's
/// interface, and those that aren't known are null, see `WholeReading`.
package struct ReadingDocument<Value: WholeReading>: Encodable {
  private enum CodingKeys: CodingKey { case schema, document, time, device, values }

  private let time: Double
  private let device: DeviceDocument
  private let read: Read<Value>
  /// Of a UPS's battery, what its supply and its load are.
  private let supply: ReadValues?

  /// Creates the document. A reading without an age was made just now. `time` is in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ read: Read<Value>, supply: ReadValues? = nil, at time: Double = WallClock.seconds
  ) {
    (self.device, self.read, self.supply, self.time) = (device, read, supply, time)
  }

  /// Writes the fields.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(DocumentSchema.name, forKey: .schema)
    try fields.encode(Value.name, forKey: .document)
    try fields.encode(time, forKey: .time)
    try fields.encode(device, forKey: .device)
    try read.value.encodeFields(to: encoder)
    if Value.self == BatteryReading.self { try fields.encode(supply, forKey: .values) }
    try read.encode(Value.beside, to: encoder)
  }
}
