// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The values that an accessory measures besides its battery, retained, each with the time of its reading.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "values", "time": 1790000000.5, "device": {…},
///  "values": [{"name": "port_4", …}]}
/// ```
package struct FleetValues: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  package var device: Device
  /// The values, with their ages at `time`.
  package var values: [Read<AccessoryValue>]

  package init(_ device: Device, _ values: [Read<AccessoryValue>], at time: Double) {
    (self.device, self.values, self.time) = (device, values, time)
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .values,
      [
        "time": .number(time), "device": FleetDevice.json(nil, device), "values": .of(WithNulls(values)),
      ])
  }

  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.valuesBytes)
    guard let device = fields["device"], let time = try fields.time("time"),
      let values = try fields.list("values", limit: ReadingLimits.values)
    else { throw FleetDocumentError("device, time or values is missing") }
    self.init(try FleetDevice.read(device).0, try Self.read(values), at: time)
  }

  /// The values as of `now`: their ages include the time since publication.
  package func values(now: Double) -> [Read<AccessoryValue>] {
    // The machines' clocks may differ.
    let since = max(.zero, MonotonicTime(since1970: now) - MonotonicTime(since1970: time)).inMilliseconds
    return values.map { read in
      var read = read
      let age = read.age?.inMilliseconds ?? 0
      read.age = .milliseconds(min(age, ReplyLimits.count.upperBound - since) + since)
      return read
    }
  }

  /// Reads values. Names must be unique.
  static func read(_ values: [JSON]) throws(FleetDocumentError) -> [Read<AccessoryValue>] {
    var read: [Read<AccessoryValue>] = []
    var names: Set<String> = []
    for value in values {
      let one = try FleetFields.value(value, "a value", as: Read<AccessoryValue>.self)
      guard names.insert(one.value.name).inserted else { throw FleetDocumentError("a value is there twice") }
      read.append(one)
    }
    return read
  }
}
