// SPDX-License-Identifier: Apache-2.0

/// The names of the fields in which the age of something that was read is published.
private enum AgeKeys: String, CodingKey {
  case age = "age_ms"
  case isStale = "stale"
}

extension Read: Encodable where Value: Encodable {
  /// Writes the fields of the value, and its age beside them. The age is left out where it isn't known, and `stale` where it
  /// is false; documents have both.
  public func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    var fields = encoder.container(keyedBy: AgeKeys.self)
    let milliseconds = age.map { min($0.inMilliseconds, ReplyLimits.count.upperBound) }
    try fields.encodeIfPresent(milliseconds ?? (encoder.writesNulls ? 0 : nil), forKey: .age)
    try fields.encodeIfPresent(isStale || encoder.writesNulls ? isStale : nil, forKey: .isStale)
  }
}

extension Read: Decodable where Value: Decodable {
  /// Reads what `encode` writes. A negative age is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: AgeKeys.self)
    let milliseconds = try fields.decodeIfPresent(Int.self, forKey: .age)
    try ReplyLimits.check(milliseconds, ReplyLimits.count, AgeKeys.age.rawValue)
    self.init(
      try Value(from: decoder), age: milliseconds.map { .milliseconds($0) },
      isStale: try fields.decodeIfPresent(Bool.self, forKey: .isStale) ?? false)
  }
}
