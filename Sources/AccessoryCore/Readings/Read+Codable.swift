// SPDX-License-Identifier: Apache-2.0

/// The fields in which a reading is published beside its value: in the service's interface and in documents.
package enum ReadKey: String, CodingKey, Sendable {
  case age = "age_ms"
  case isStale = "stale"
  case alarms
  case unfitAlarms = "unfit_alarms"
  case missing
}

extension Read {
  /// Writes these fields. What isn't known is left out, and `stale` where it is false; documents have all of them, where a reading
  /// without an age was made just now.
  package func encode(_ keys: [ReadKey], to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: ReadKey.self)
    let isWhole = encoder.writesNulls
    for key in keys {
      switch key {
      case .age:
        let milliseconds = age.map { min($0.inMilliseconds, ReplyLimits.count.upperBound) }
        try fields.encodeIfPresent(milliseconds ?? (isWhole ? 0 : nil), forKey: key)
      case .isStale: try fields.encodeIfPresent(isStale || isWhole ? isStale : nil, forKey: key)
      case .alarms: try fields.encodeIfPresent(alarms, forKey: key)
      case .unfitAlarms: try fields.encodeIfPresent(unfitAlarms ?? (isWhole ? [] : nil), forKey: key)
      case .missing: try fields.encodeIfPresent(missing, forKey: key)
      }
    }
  }

  /// The reading of a value, with these fields. A negative age is an error.
  package init(_ value: Value, _ keys: [ReadKey], from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: ReadKey.self)
    self.init(value)
    for key in keys {
      switch key {
      case .age:
        let milliseconds = try fields.decodeIfPresent(Int.self, forKey: key)
        try ReplyLimits.check(milliseconds, ReplyLimits.count, key.rawValue)
        age = milliseconds.map { .milliseconds($0) }
      case .isStale: isStale = try fields.decodeIfPresent(Bool.self, forKey: key) ?? false
      case .alarms: alarms = try fields.decodeIfPresent([AccessoryAlarm].self, forKey: key)
      case .unfitAlarms: unfitAlarms = try fields.decodeIfPresent([UnfitAlarm].self, forKey: key)
      case .missing: missing = try fields.decodeIfPresent(String.self, forKey: key)
      }
    }
  }
}

/// What is published with each of several readings.
private let ofOne: [ReadKey] = [.age, .isStale]

extension Read: Encodable where Value: Encodable {
  /// Writes the fields of the value, and beside them its age (`age_ms`) and whether it is `stale`.
  public func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    try encode(ofOne, to: encoder)
  }
}

extension Read: Decodable where Value: Decodable {
  /// Reads what `encode` writes. A negative age is an error.
  public init(from decoder: any Decoder) throws { try self.init(Value(from: decoder), ofOne, from: decoder) }
}
