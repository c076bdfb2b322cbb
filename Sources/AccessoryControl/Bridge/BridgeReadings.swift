// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The methods that read an accessory: its status with its identity, its battery, and its values.

/// What one call reads of an accessory, with its fields in the reply and in documents.
package protocol WholeReading: Codable, Sendable, Hashable, CheckedReply {
  /// The method that reads it.
  static var method: String { get }
  /// The name of the documents with it, and of its field, unless it has several.
  static var name: String { get }
  /// The fields beside its own.
  static var beside: [ReadKey] { get }
  /// Reads its own fields.
  init(fieldsFrom decoder: any Decoder) throws
  /// Writes its own fields.
  func encodeFields(to encoder: any Encoder) throws
  /// Its age, where it is in its own fields.
  var age: Duration? { get }
  /// The same of an accessory that is gone; nil where nothing is known.
  static func last(in readings: Bridge.LastReadings) -> Self?
}

/// The name of the field of a reading that has one.
private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension WholeReading {
  /// The default: one field.
  package init(fieldsFrom decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    self = try fields.decode(Self.self, forKey: FieldName(stringValue: Self.name))
  }

  /// The default: one field.
  package func encodeFields(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: FieldName.self)
    try fields.encode(self, forKey: FieldName(stringValue: Self.name))
  }

  /// The default: it isn't.
  package var age: Duration? { nil }

  /// The default: what was decoded is within its limits.
  package func check() throws(ReplyNumberError) {}
}

extension StatusAndIdentity: WholeReading {
  package static var method: String { "accessorybridge.Bridge.Status" }
  package static var name: String { "status" }
  package static var beside: [ReadKey] { [.age, .isStale, .alarms, .unfitAlarms, .missing] }
  package init(fieldsFrom decoder: any Decoder) throws { try self.init(from: decoder) }
  package func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
  package static func last(in readings: Bridge.LastReadings) -> StatusAndIdentity? {
    readings.status.map { StatusAndIdentity(status: $0, identity: readings.identity ?? AccessoryIdentity()) }
  }
}

extension BatteryReading: CheckedReply, WholeReading {
  package static var method: String { "accessorybridge.Bridge.Battery" }
  package static var name: String { "battery" }
  package static var beside: [ReadKey] { [.age, .isStale, .alarms, .missing] }
  package static func last(in readings: Bridge.LastReadings) -> BatteryReading? { readings.battery }
}

/// Values, each with its age.
package typealias ReadValues = [Read<AccessoryValue>]

extension ReadValues: CheckedReply, WholeReading {
  package static var method: String { "accessorybridge.Bridge.Values" }
  package static var name: String { "values" }
  package static var beside: [ReadKey] { [.missing] }
  package static func last(in readings: Bridge.LastReadings) -> ReadValues? { readings.values }

  /// What a UPS supplies its load from, and its load; nil of an accessory that isn't a UPS.
  package var ofSupply: ReadValues? {
    contains { $0.value.isSupply && $0.value.content != nil } ? filter { $0.value.importance == .headline } : nil
  }

  /// The same with what has changed.
  package func updated(with news: [AccessoryValue]) -> ReadValues {
    map { old in news.first { $0.name == old.value.name }.map { Read($0.bounded) } ?? old }
  }

  /// The age of the oldest one.
  package var age: Duration? { compactMap(\.age).max() }

  /// Throws when there are too many values.
  package func check() throws(ReplyNumberError) {
    try ReplyLimits.check(count, 0...ReadingLimits.values, "the number of values")
  }
}

/// How an accessory is to be read. An option of the commands that read accessories is passed on in this, and needs nothing else
/// between the command and the service.
package struct ReadingWish: Sendable, Hashable {
  /// Whether the answer may not be an earlier reading.
  package var isFresh: Bool

  /// The default asks the accessory where that is possible, and is content with its last reading elsewhere.
  package init(isFresh: Bool = false) { self.isFresh = isFresh }
}

extension Bridge {
  package struct GetReading<Value: WholeReading>: ControlMethod {
    package static var method: String { Value.method }
    package typealias Reply = ReadingReply<Value>

    package var device: String?
    /// Left out when false, since older services reject the field.
    package var fresh: Bool?

    package init(device: String? = nil, _ wish: ReadingWish = ReadingWish()) {
      (self.device, fresh) = (device, wish.isFresh ? true : nil)
    }
  }

  package typealias GetStatus = GetReading<StatusAndIdentity>
  package typealias GetBattery = GetReading<BatteryReading>
  package typealias GetValues = GetReading<ReadValues>

  /// A reading of a device, in the fields that `WholeReading` says. It has an age where it wasn't made for this call.
  package struct ReadingReply<Value: WholeReading>: Codable, Sendable, Hashable, CheckedReply {
    private enum CodingKeys: CodingKey { case device }

    package var device: Device
    package var read: Read<Value>

    package init(device: Device, _ read: Read<Value>) { (self.device, self.read) = (device, read) }

    package init(from decoder: any Decoder) throws {
      device = try decoder.container(keyedBy: CodingKeys.self).decode(Device.self, forKey: .device)
      read = try Read(Value(fieldsFrom: decoder), Value.beside, from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(device, forKey: .device)
      try read.value.encodeFields(to: encoder)
      try read.encode(Value.beside, to: encoder)
    }

    package func check() throws(ReplyNumberError) {
      try ReplyLimits.check(count: read.alarms)
      try UnfitAlarm.check(read.unfitAlarms ?? [])
      try read.value.check()
    }
  }
}
