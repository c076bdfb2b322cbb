// SPDX-License-Identifier: Apache-2.0

extension CommandDescription: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, summary, arguments, results
    case isWrite = "write"
    case settings = "sets"
  }

  /// Writes the fields of the service's interface. `write` is left out where it is false, and `sets` where it is empty.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(summary, forKey: .summary)
    try fields.encode(arguments, forKey: .arguments)
    try fields.encode(results, forKey: .results)
    try fields.encodeIfPresent(isWrite || encoder.writesNulls ? isWrite : nil, forKey: .isWrite)
    try fields.encodeIfPresent(settings.isEmpty ? nil : settings, forKey: .settings)
  }

  /// Reads what `encode` writes.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try fields.decode(String.self, forKey: .name), try fields.decode(String.self, forKey: .summary),
      try fields.decode([Argument].self, forKey: .arguments),
      results: try fields.decode([Result].self, forKey: .results),
      isWrite: try fields.decodeIfPresent(Bool.self, forKey: .isWrite) ?? false,
      settings: try fields.decodeIfPresent([Setting].self, forKey: .settings) ?? [])
  }
}

extension CommandDescription.Setting: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, argument, value, offset, numerator, denominator
  }

  /// Writes the fields of the service's interface: `argument`, with its numbers where they change it, or `value`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    switch source {
    case .value(let text): try fields.encode(text, forKey: .value)
    case .argument(let argument, let offset, let numerator, let denominator):
      try fields.encode(argument, forKey: .argument)
      try fields.encodeIfPresent(offset == 0 ? nil : offset, forKey: .offset)
      try fields.encodeIfPresent(numerator == 1 ? nil : numerator, forKey: .numerator)
      try fields.encodeIfPresent(denominator == 1 ? nil : denominator, forKey: .denominator)
    }
  }

  /// Reads what `encode` writes.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let name = try fields.decode(String.self, forKey: .name)
    guard let argument = try fields.decodeIfPresent(String.self, forKey: .argument) else {
      self.init(name, .value(try fields.decode(String.self, forKey: .value)))
      return
    }
    self.init(
      name,
      .argument(
        argument, offset: try fields.decodeIfPresent(Int.self, forKey: .offset) ?? 0,
        numerator: try fields.decodeIfPresent(Int.self, forKey: .numerator) ?? 1,
        denominator: try fields.decodeIfPresent(Int.self, forKey: .denominator) ?? 1))
  }
}

extension CommandDescription.Argument: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, kind, minimum, maximum, words, limit, unit, standard
  }

  /// The words for what an argument may be.
  private enum Word: String, Codable {
    case whole, choice, choices, text, bytes, flag
  }

  /// Writes the fields of the service's interface. Those that the kind doesn't have are left out.
  public func encode(to encoder: any Encoder) throws {
    let word: Word
    var (range, words, limit): (ClosedRange<Int>?, [String]?, Int?)
    switch kind {
    case .whole(let its): (word, range) = (.whole, its)
    case .choice(let its): (word, words) = (.choice, its)
    case .choices(let its): (word, words) = (.choices, its)
    case .text(let its): (word, limit) = (.text, its)
    case .bytes(let its): (word, limit) = (.bytes, its)
    case .flag: word = .flag
    }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(word, forKey: .kind)
    try fields.encodeIfPresent(range?.lowerBound, forKey: .minimum)
    try fields.encodeIfPresent(range?.upperBound, forKey: .maximum)
    try fields.encodeIfPresent(words, forKey: .words)
    try fields.encodeIfPresent(limit, forKey: .limit)
    try fields.encodeIfPresent(unit, forKey: .unit)
    try fields.encodeIfPresent(defaultValue?.typed, forKey: .standard)
  }

  /// Reads what `encode` writes. A range or a limit that can't be, and a default that isn't allowed, are errors.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let limit = try fields.decodeIfPresent(Int.self, forKey: .limit)
    try ReplyLimits.check(limit, ReplyLimits.count, CodingKeys.limit.rawValue)
    let words = try fields.decodeIfPresent([String].self, forKey: .words) ?? []
    let kind: CommandDescription.Kind
    switch try fields.decode(Word.self, forKey: .kind) {
    case .whole:
      let minimum = try fields.decode(Int.self, forKey: .minimum)
      let maximum = try fields.decode(Int.self, forKey: .maximum)
      guard minimum <= maximum else { throw ReplyNumberError(CodingKeys.minimum.rawValue, minimum) }
      kind = .whole(minimum...maximum)
    case .choice: kind = .choice(words)
    case .choices: kind = .choices(words)
    case .text: kind = .text(limit ?? .max)
    case .bytes: kind = .bytes(limit ?? .max)
    case .flag: kind = .flag
    }
    let standard = try fields.decodeIfPresent(String.self, forKey: .standard)
    let value = standard.flatMap { kind.value($0) }
    if let standard, value == nil { throw ReplyNumberError(CodingKeys.standard.rawValue, standard) }
    self.init(
      try fields.decode(String.self, forKey: .name), kind, unit: try fields.decodeIfPresent(String.self, forKey: .unit),
      defaultValue: value)
  }
}
