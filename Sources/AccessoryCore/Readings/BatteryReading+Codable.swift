// SPDX-License-Identifier: Apache-2.0

extension BatteryReading: Codable {
  /// The names of the published fields: those of the vocabulary, and two that say where values come from.
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let levelOrigin = Key("level_origin")
    static let derived = Key("derived")
  }

  /// Writes the fields of the service's interface and of JSON documents. Unknown fields are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    for term in Vocabulary.battery {
      let key = Key(term.key)
      switch term.form {
      case .number(_, let get, _): try fields.encodeIfPresent(get(self), forKey: key)
      case .word(_, let get, _): try fields.encode(get(self) ?? "unknown", forKey: key)
      case .names(let get, _): try fields.encodeIfPresent(get(self), forKey: key)
      case .list(_, _, _, let get, _):
        let elements = get(self)
        if term.elementKey == nil {
          try fields.encodeIfPresent(elements.isEmpty ? nil : elements.map(\.count), forKey: key)
        } else {
          let temperatures = elements.map { Temperature($0.count, name: $0.name) }
          try fields.encodeIfPresent(elements.isEmpty ? nil : temperatures, forKey: key)
        }
      }
    }
    try fields.encode(levelOrigin.rawValue, forKey: .levelOrigin)
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
    self.init()
    for term in Vocabulary.battery {
      let key = Key(term.key)
      switch term.form {
      case .number(let measure, _, let set):
        let number = try fields.decodeIfPresent(Int.self, forKey: key)
        try ReplyLimits.check(number, measure.range, term.key)
        set(&self, number)
      case .word(_, _, let set): set(&self, try fields.decode(String.self, forKey: key))
      case .names(_, let set): set(&self, try names(key))
      case .list(let measure, let limit, _, _, let set):
        let elements =
          term.elementKey == nil
          ? (try fields.decodeIfPresent([Int?].self, forKey: key) ?? []).map { ReadingElement($0) }
          : (try fields.decodeIfPresent([Temperature].self, forKey: key) ?? []).map {
            ReadingElement($0.millidegrees, name: $0.name)
          }
        try ReplyLimits.check(elements.count, 0...limit, "the number of \(term.key)")
        for element in elements { try ReplyLimits.check(element.count, measure.range, term.key) }
        set(&self, elements)
      }
    }
    deriveLevel()
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
