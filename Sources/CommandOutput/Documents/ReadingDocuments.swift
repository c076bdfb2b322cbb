// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An accessory's battery.
package struct BatteryDocument: Encodable {
  let schema = DocumentSchema.name
  let time: Double
  let device: DeviceDocument
  let battery: BatteryFields
  /// How old the reading is: not 0 while another program has the accessory, and of one that only tells it.
  let age_ms: Int
  /// Whether it is older than it should be.
  let stale: Bool

  /// A reading; `age` is in milliseconds, nil where it is of now, `time` in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ reading: BatteryReading, age: Int? = nil, isStale: Bool = false,
    at time: Double = WallClock.seconds
  ) {
    self.device = device
    self.time = time
    battery = BatteryFields(reading)
    (age_ms, stale) = (age ?? 0, isStale)
  }
}

/// What is known of a battery, within other documents: as the interface of the control socket has it, with null where that
/// leaves a field out.
package struct BatteryFields: Encodable, Sendable {
  private let fields: WithNulls<Bridge.Battery>

  /// The fields of a reading. `derived` is a list, also where nothing is.
  package init(_ reading: BatteryReading) {
    var battery = Bridge.Battery(reading)
    battery.derived = battery.derived ?? []
    fields = WithNulls(battery)
  }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

/// What an accessory measures.
package struct ValuesDocument: Encodable {
  let schema = DocumentSchema.name
  let time: Double
  let device: DeviceDocument
  let values: [ValueFields]

  /// All values that were asked for, or those that have changed; `time` is in seconds since 1970, UTC.
  package init(_ device: DeviceDocument, _ values: [Bridge.MeasuredValue], at time: Double = WallClock.seconds) {
    self.device = device
    self.time = time
    self.values = values.map(ValueFields.init)
  }
}

/// Something that an accessory measures, within other documents.
package struct ValueFields: Encodable, Sendable {
  private let fields: WithNulls<Bridge.MeasuredValue>

  /// The fields of a value. One without an age is of now.
  package init(_ value: Bridge.MeasuredValue) {
    var value = value
    (value.derived, value.stale) = (value.derived ?? false, value.stale ?? false)
    value.age_ms = value.age_ms ?? 0
    fields = WithNulls(value)
  }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

/// What an accessory is doing, and who it is.
package struct StatusDocument: Encodable {
  let schema = DocumentSchema.name
  let time: Double
  let device: DeviceDocument
  let status: StatusFields
  let identity: IdentityDocument
  /// As those of `BatteryDocument`.
  let age_ms: Int
  let stale: Bool

  /// A status; `age` is in milliseconds, nil where it is of now, `time` in seconds since 1970, UTC.
  package init(
    _ device: DeviceDocument, _ status: AccessoryStatus, _ identity: AccessoryIdentity, age: Int? = nil,
    isStale: Bool = false, at time: Double = WallClock.seconds
  ) {
    self.device = device
    self.time = time
    self.status = StatusFields(status)
    self.identity = IdentityDocument(identity)
    (age_ms, stale) = (age ?? 0, isStale)
  }
}

/// What an accessory is doing, within other documents.
package struct StatusFields: Encodable, Sendable {
  private let fields: WithNulls<Bridge.Status>

  /// The fields of a status.
  package init(_ status: AccessoryStatus) { fields = WithNulls(Bridge.Status(status)) }

  /// Writes all fields.
  package func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

/// Who an accessory says it is, within other documents: null for what it doesn't say.
package struct IdentityDocument: Encodable, Sendable {
  let manufacturer, name, model, serial, firmware, hardware: OrNull<String>

  /// The document of an identity.
  package init(_ identity: AccessoryIdentity) {
    func known(_ text: String) -> OrNull<String> { OrNull(text.isEmpty ? nil : text) }
    (manufacturer, name, model) = (known(identity.manufacturer), known(identity.name), known(identity.model))
    serial = known(identity.serialNumber)
    (firmware, hardware) = (known(identity.firmwareRevision), known(identity.hardwareRevision))
  }
}
