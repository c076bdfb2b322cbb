// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What a gateway publishes about an accessory, retained: what it is, and its last status and battery.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "state", "time": 1790000000.5, "connected": true, "stale": false,
///  "device": {…, "service": {…}}, "identity": {…}, "status": {…}, "status_time": 1790000000.1,
///  "battery": {…}, "battery_time": 1790000000.2, "alarms": [], "problem": null}
/// ```
///
/// An unknown field is null. The fields of `status`, `identity` and `battery` are all there, so templates can name them.
package struct FleetState: Sendable, Hashable {
  /// When this was published, in seconds since 1970.
  package var time: Double
  /// Whether the accessory is attached.
  package var connected: Bool
  /// The device.
  package var device: Bridge.Device
  /// The record of the gateway's service; nil where it isn't known.
  package var held: Bridge.Accessory?
  /// How the accessory identifies itself; nil until it has been asked.
  package var identity: AccessoryIdentity?
  /// The last status, and when it was read or reported, in seconds since 1970; nil until there is one.
  package var status: AccessoryStatus?
  package var statusTime: Double?
  /// The last battery reading, and when it was read or reported, in seconds since 1970; nil until there is one.
  package var battery: BatteryReading?
  package var batteryTime: Double?
  /// The raised alarms; nil where the gateway's service is too old for alarms. The service's record has them, too.
  package var alarms: [AccessoryAlarm]? { didSet { held?.alarms = alarms } }
  /// Whether a reading is older than it should be.
  package var stale: Bool
  /// Why the accessory isn't attached; nil while it is.
  package var problem: FleetProblem?

  /// A state without readings.
  package init(
    _ device: Bridge.Device, held: Bridge.Accessory? = nil, connected: Bool, stale: Bool = false, at time: Double
  ) {
    (self.device, self.held, self.connected, self.stale, self.time) = (device, held, connected, stale, time)
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .state,
      [
        "time": .number(time), "connected": .bool(connected), "stale": .bool(stale),
        "device": FleetDevice.json(held, device), "identity": .of(identity.map(WithNulls.init)),
        "status": .of(status.map(WithNulls.init)), "status_time": .number(statusTime),
        "battery": .of(battery.map(WithNulls.init)), "battery_time": .number(batteryTime),
        "alarms": FleetAlarms.json(alarms), "problem": problem?.json ?? .null,
      ])
  }

  /// Reads a document.
  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.documentBytes)
    guard let device = fields["device"], let time = try fields.time("time"),
      let connected = try fields.flag("connected")
    else { throw FleetDocumentError("device, time or connected is missing") }
    let (its, held) = try FleetDevice.read(device)
    self.init(its, held: held, connected: connected, stale: try fields.flag("stale") ?? false, at: time)
    identity = try fields.value("identity")
    guard identity?.texts.allSatisfy({ $0.utf8.count <= FleetLimits.textBytes }) ?? true else {
      throw FleetDocumentError("a text of the identity is too long")
    }
    status = try fields.value("status")
    statusTime = try fields.time("status_time")
    battery = try fields.value("battery")
    batteryTime = try fields.time("battery_time")
    // An observer isn't called in an initializer.
    alarms = try FleetAlarms.read(fields)
    self.held?.alarms = alarms
    problem = try fields["problem"].map { json throws(FleetDocumentError) in try FleetProblem(json) }
  }

  /// How old a reading is now, in milliseconds; nil where there is none. Never negative: clocks of machines differ.
  package static func age(of time: Double?, now: Double) -> Int? {
    time.map { Int(clamping: Int64(max(0, min(now - $0, Double(UInt32.max))) * 1_000)) }
  }
}
