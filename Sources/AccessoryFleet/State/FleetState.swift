// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What a gateway publishes about an accessory, retained: its description, and its last status and battery.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "state", "time": 1790000000.5, "connected": true, "stale": false,
///  "device": {…, "service": {…}}, "identity": {…}, "status": {…}, "status_time": 1790000000.1,
///  "battery": {…}, "battery_time": 1790000000.2, "alarms": [], "problem": null, "missing": null}
/// ```
///
/// An unknown field is null. All fields of `status`, `identity` and `battery` are present, so templates can name them.
@dynamicMemberLookup
package struct FleetState: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  /// The accessory's state. Its times count from 1970, because machines have no other common clock.
  package var accessory: MirroredAccessory

  /// A state without readings.
  package init(
    _ device: Device, record: Bridge.Accessory? = nil, connected: Bool, stale: Bool = false, at time: Double
  ) {
    (self.time, accessory) = (time, MirroredAccessory(service: "", device: device))
    (accessory.record, accessory.isConnected, accessory.isStale) = (record, connected, stale)
  }

  package subscript<Value>(dynamicMember path: WritableKeyPath<MirroredAccessory, Value>) -> Value {
    get { accessory[keyPath: path] }
    set { accessory[keyPath: path] = newValue }
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .state,
      [
        "time": .number(time), "connected": .bool(accessory.isConnected), "stale": .bool(accessory.isStale),
        "device": FleetDevice.json(accessory.record, accessory.device),
        "identity": .of(accessory.identity.map(WithNulls.init)), "status": .of(accessory.status.map(WithNulls.init)),
        "status_time": .number(accessory.statusTime?.since1970),
        "battery": .of(accessory.battery.map(WithNulls.init)),
        "battery_time": .number(accessory.batteryTime?.since1970), "alarms": FleetAlarms.json(accessory.alarms),
        "problem": .error(accessory.problem), "missing": .of(accessory.missing),
      ])
  }

  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.documentBytes)
    guard let device = fields["device"], let time = try fields.time("time"),
      let connected = try fields.flag("connected")
    else { throw FleetDocumentError("device, time or connected is missing") }
    let (its, record) = try FleetDevice.read(device)
    self.init(its, record: record, connected: connected, stale: try fields.flag("stale") ?? false, at: time)
    accessory.identity = try fields.value("identity")
    guard accessory.identity?.texts.allSatisfy({ $0.utf8.count <= FleetLimits.textBytes }) ?? true else {
      throw FleetDocumentError("a text of the identity is too long")
    }
    accessory.status = try fields.value("status")
    accessory.statusTime = try fields.time("status_time").map(MonotonicTime.init(since1970:))
    accessory.battery = try fields.value("battery")
    accessory.batteryTime = try fields.time("battery_time").map(MonotonicTime.init(since1970:))
    let alarms = try FleetAlarms.read(fields)
    accessory.alarms = alarms
    // The service's record contains the alarms as well.
    accessory.record?.alarms = alarms
    accessory.problem = try fields.error("problem")
    accessory.missing = try fields.text("missing")
  }
}

extension MonotonicTime {
  /// The time of a document, in seconds since 1970. A time outside the documents' range becomes the nearest one inside.
  package init(since1970 seconds: Double) {
    let seconds = min(max(ReplyLimits.seconds.lowerBound, seconds), ReplyLimits.seconds.upperBound)
    let whole = seconds.rounded(.down)
    self.init(nanoseconds: Int64(whole) * 1_000_000_000 + Int64(((seconds - whole) * 1e9).rounded()))
  }

  /// The time as seconds since 1970, for a document.
  package var since1970: Double {
    // Split off the whole seconds: a `Double` can't hold all nanoseconds since 1970.
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Double(whole) + Double(rest) / 1e9
  }
}
