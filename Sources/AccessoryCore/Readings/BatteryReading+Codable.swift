// SPDX-License-Identifier: Apache-2.0

extension BatteryReading: Codable {
  /// The names of the published fields: those of `Field`, and two that say where values come from.
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ field: Field) { stringValue = field.rawValue }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let levelOrigin = Key(stringValue: "level_origin")
    static let derived = Key(stringValue: "derived")
  }

  /// Writes the fields of the service's interface and of JSON documents. Unknown fields are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    for field in Field.allCases where field.range != nil { try fields.encodeIfPresent(self[field], forKey: Key(field)) }
    try fields.encode(level.rawValue, forKey: Key(.level))
    try fields.encode(levelOrigin.rawValue, forKey: .levelOrigin)
    try fields.encode(charge.rawValue, forKey: Key(.charge))
    try fields.encodeIfPresent(temperatures.isEmpty ? nil : temperatures, forKey: Key(.temperatures))
    try fields.encodeIfPresent(cellMillivolts.isEmpty ? nil : cellMillivolts, forKey: Key(.cells))
    try fields.encodeIfPresent(faults, forKey: Key(.faults))
    try fields.encodeIfPresent(warnings, forKey: Key(.warnings))
    // Documents always have this list.
    let names = derived.isEmpty && !encoder.writesNulls ? nil : derived.map(\.rawValue).sorted()
    try fields.encodeIfPresent(names, forKey: .derived)
  }

  /// Reads what `encode` writes. An unknown word becomes `unknown`; a number or a text beyond `ReadingLimits` is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    func names(_ key: Key) throws -> [String]? {
      let names = try fields.decodeIfPresent([String].self, forKey: key)
      try ReplyLimits.check(names?.count, 0...ReadingLimits.faults, "the number of \(key.stringValue)")
      for name in names ?? [] { try ReplyLimits.check(length: name, ReadingLimits.nameBytes, key.stringValue) }
      return names
    }
    self.init(
      level: Level(rawValue: try fields.decode(String.self, forKey: Key(.level))) ?? .unknown,
      charge: Charge(rawValue: try fields.decode(String.self, forKey: Key(.charge))) ?? .unknown)
    for field in Field.allCases {
      guard let range = field.range else { continue }
      let number = try fields.decodeIfPresent(Int.self, forKey: Key(field))
      try ReplyLimits.check(number, range, field.rawValue)
      self[field] = number
    }
    deriveLevel()
    temperatures = try fields.decodeIfPresent([Temperature].self, forKey: Key(.temperatures)) ?? []
    try ReplyLimits.check(temperatures.count, 0...ReadingLimits.temperatures, "the number of temperatures")
    cellMillivolts = try fields.decodeIfPresent([Int?].self, forKey: Key(.cells)) ?? []
    try ReplyLimits.check(cellMillivolts.count, 0...ReadingLimits.cells, "the number of cells_mv")
    for cell in cellMillivolts { try ReplyLimits.check(cell, ReadingLimits.electrical, "cells_mv") }
    (faults, warnings) = (try names(Key(.faults)), try names(Key(.warnings)))
    derived = Set((try names(.derived) ?? []).compactMap { Field(rawValue: $0) })
    levelOrigin = Origin(rawValue: try fields.decode(String.self, forKey: .levelOrigin)) ?? .reported
  }
}

extension BatteryReading.Temperature: Codable {
  private enum CodingKeys: String, CodingKey {
    case name
    case millidegrees = "temperature_mc"
  }

  /// Writes both fields, unknown ones as null, in the interface as well as in JSON documents.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(millidegrees, forKey: .millidegrees)
  }

  /// Reads what `encode` writes. A number or a name beyond `ReadingLimits` is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try fields.decodeIfPresent(Int.self, forKey: .millidegrees),
      name: try fields.decodeIfPresent(String.self, forKey: .name))
    try ReplyLimits.check(millidegrees, ReadingLimits.millidegrees, CodingKeys.millidegrees.rawValue)
    try ReplyLimits.check(length: name, ReadingLimits.nameBytes, "name")
  }
}
