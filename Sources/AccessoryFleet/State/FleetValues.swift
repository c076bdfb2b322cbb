// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What an accessory measures besides its battery, retained: all its values, each with the time at which it was read.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "values", "time": 1790000000.5, "device": {…},
///  "values": [{"name": "port_4", …}]}
/// ```
package struct FleetValues: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  /// The device.
  package var device: Bridge.Device
  /// The values. `age_ms` is their age at `time`.
  package var values: [Bridge.MeasuredValue]

  /// Values of a device.
  package init(_ device: Bridge.Device, _ values: [Bridge.MeasuredValue], at time: Double) {
    (self.device, self.values, self.time) = (device, values, time)
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .values,
      [
        "time": .number(time), "device": FleetDevice.json(nil, device), "values": .array(values.map(\.fleetJSON)),
      ])
  }

  /// Reads a document.
  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.valuesBytes)
    guard let device = fields["device"], let time = try fields.time("time"),
      let values = try fields.list("values", limit: ReadingLimits.values)
    else { throw FleetDocumentError("device, time or values is missing") }
    self.init(try FleetDevice.read(device).0, try Bridge.MeasuredValue.read(values), at: time)
  }

  /// The values as they are now: their ages have grown by the time since they were published.
  package func values(now: Double) -> [Bridge.MeasuredValue] {
    let since = FleetState.age(of: time, now: now) ?? 0
    return values.map { value in
      var value = value
      value.age_ms = min(value.age_ms ?? 0, ReplyLimits.count.upperBound - since) + since
      return value
    }
  }
}

extension Bridge.MeasuredValue {
  /// All fields of a value, as in documents.
  var fleetJSON: JSON {
    var value = self
    value.role = nil
    (value.derived, value.stale, value.age_ms) = (derived ?? false, stale ?? false, age_ms ?? 0)
    return .of(WithNulls(value))
  }

  /// Reads values, no two of one name.
  static func read(_ values: [JSON]) throws(FleetDocumentError) -> [Bridge.MeasuredValue] {
    var read: [Bridge.MeasuredValue] = []
    var names: Set<String> = []
    for value in values {
      let value = try FleetFields.value(value, "a value", as: Bridge.MeasuredValue.self)
      guard names.insert(value.name).inserted else { throw FleetDocumentError("a value is there twice") }
      read.append(value)
    }
    return read
  }
}
