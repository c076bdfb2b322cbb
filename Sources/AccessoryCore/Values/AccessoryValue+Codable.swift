// SPDX-License-Identifier: Apache-2.0

extension AccessoryValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, kind, quantity, unit, role, importance, number, text, flag
    case isDerived = "derived"
  }

  /// The words for what a value contains.
  private enum Kind: String {
    case number, text, flag, choice, unknown
  }

  /// Writes the fields of the service's interface and of JSON documents. Unknown fields are left out.
  public func encode(to encoder: any Encoder) throws {
    let (kind, number, text, flag): (Kind, Double?, String?, Bool?) =
      switch content {
      case .number(let number): (.number, number, nil, nil)
      case .text(let text): (.text, nil, text, nil)
      case .flag(let flag): (.flag, nil, nil, flag)
      case .choice(let word, let number): (.choice, Double(number), word, nil)
      case nil: (.unknown, nil, nil, nil)
      }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(kind.rawValue, forKey: .kind)
    try fields.encodeIfPresent(quantity?.rawValue, forKey: .quantity)
    try fields.encodeIfPresent(unit?.rawValue, forKey: .unit)
    // Documents leave roles out: these are for exporters, which are clients of the service.
    if !encoder.writesNulls { try fields.encodeIfPresent(role?.rawValue, forKey: .role) }
    try fields.encode(importance.rawValue, forKey: .importance)
    try fields.encodeIfPresent(number, forKey: .number)
    try fields.encodeIfPresent(text, forKey: .text)
    try fields.encodeIfPresent(flag, forKey: .flag)
    try fields.encode(isDerived, forKey: .isDerived)
  }

  /// Reads what `encode` writes. The content is unknown where this version doesn't know its kind, or where the kind's field
  /// is missing. A text beyond `ReadingLimits` is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys, _ limit: Int) throws -> String? {
      let text = try fields.decodeIfPresent(String.self, forKey: key)
      try ReplyLimits.check(length: text, limit, key.rawValue)
      return text
    }
    let number = try fields.decodeIfPresent(Double.self, forKey: .number)
    if let number, !number.isFinite { throw ReplyNumberError("number", number) }
    let word = try text(.text, ReadingLimits.textBytes)
    let flag = try fields.decodeIfPresent(Bool.self, forKey: .flag)
    let kind = try fields.decode(String.self, forKey: .kind)
    try ReplyLimits.check(length: kind, ReadingLimits.nameBytes, CodingKeys.kind.rawValue)
    let content: Content? =
      switch Kind(rawValue: kind) {
      case .number: number.map { .number($0) }
      case .text: word.map { .text($0) }
      case .flag: flag.map { .flag($0) }
      case .choice:
        word.flatMap { word in number.flatMap { Int(exactly: $0) }.map { .choice(word: word, number: $0) } }
      case .unknown, nil: nil
      }
    let name = try fields.decode(String.self, forKey: .name)
    try ReplyLimits.check(length: name, ReadingLimits.nameBytes, CodingKeys.name.rawValue)
    self.init(
      name, quantity: try text(.quantity, ReadingLimits.quantityBytes).map { Quantity(rawValue: $0) },
      unit: try text(.unit, ReadingLimits.unitBytes).map { MeasurementUnit(rawValue: $0) },
      role: try text(.role, ReadingLimits.nameBytes).map { Role(rawValue: $0) }, content: content,
      isDerived: try fields.decodeIfPresent(Bool.self, forKey: .isDerived) ?? false,
      // Older services don't say it, and newer ones may have other words.
      importance: try text(.importance, ReadingLimits.nameBytes).flatMap { Importance(rawValue: $0) })
  }
}
