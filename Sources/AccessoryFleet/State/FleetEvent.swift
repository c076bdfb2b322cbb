// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An event of an accessory, not retained: one event of the service's `Subscribe`.
///
/// ```json
/// {"schema": "accessory-bridge-mqtt/1", "document": "event", "event": "battery", "time": 1790000000.5, "device": {…}, "battery": {…},
///  "status": null, "values": null, "alarm": null, "state": null, "problem": null}
/// ```
package struct FleetEvent: Sendable, Hashable {
  /// The event, with its device.
  package var event: Bridge.Event

  /// Creates the document of an event; nil if the event concerns no device.
  package init?(_ event: Bridge.Event) {
    guard event.device != nil else { return nil }
    self.event = event
  }

  /// The document.
  package var bytes: [UInt8] {
    JSON.document(
      .event,
      [
        "event": .string(event.event.rawValue), "time": .number(event.time),
        "device": event.device.map { FleetDevice.json(nil, $0) } ?? .null,
        "battery": .of(event.battery.map(WithNulls.init)),
        "status": .of(event.status.map(WithNulls.init)),
        "values": .of(event.values.map(WithNulls.init)),
        "alarm": event.alarm.map(FleetAlarms.json) ?? .null, "state": .text(event.state?.rawValue),
        "problem": .problem(event.problem),
      ])
  }

  package init(_ bytes: [UInt8]) throws(FleetDocumentError) {
    let fields = try FleetFields(bytes, limit: FleetLimits.valuesBytes)
    guard let name = try fields.text("event").flatMap({ Bridge.EventName(rawValue: $0) }),
      let time = try fields.time("time"), let device = fields["device"]
    else { throw FleetDocumentError("event, time or device is missing") }
    event = Bridge.Event(
      name, time: time, device: try FleetDevice.read(device).0, battery: try fields.value("battery"),
      status: try fields.value("status"), alarm: try fields.value("alarm"),
      state: try fields.text("state").flatMap { AlarmChange(rawValue: $0) })
    event.values = try fields.list("values", limit: ReadingLimits.values).map { list throws(FleetDocumentError) in
      try FleetValues.read(list)
    }
    event.problem = try fields.error("problem").map(Bridge.Problem.init)
  }
}
