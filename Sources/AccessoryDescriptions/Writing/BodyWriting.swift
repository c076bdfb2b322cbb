// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The state while the body of a message is written.
struct BodyWriting {
  var body: [UInt8] = []
  private let values: [String: PlainValue]
  /// Numbers that are calculated, by field: the counts of groups, and numbers that say that an optional part is
  /// present.
  private var counts: [String: Int] = [:]
  /// How many values of each list have been written.
  private var cursors: [String: Int] = [:]
  /// The number that was written last for each field.
  private var written: [String: Int] = [:]
  /// The bits so far of a number that several fields share.
  private var pending: UInt64 = 0

  init(values: [String: PlainValue], steps: [ProtocolDescription.Step]) {
    self.values = values
    count(steps)
  }

  /// Appends zeros up to a length of `count` bytes.
  mutating func pad(to count: Int) {
    if body.count < count { body += [UInt8](repeating: 0, count: count - body.count) }
  }

  func hasValue(in steps: [ProtocolDescription.Step]) -> Bool {
    steps.contains { step in
      switch step {
      case .field(let field): values[field.name] != nil || counts[field.name] != nil
      case .group(let steps, _), .tail(let steps), .when(_, let steps): hasValue(in: steps)
      case .skip: false
      }
    }
  }

  /// How many times a group is written: as often as its longest list has values. Lists in nested groups don't count, as
  /// they have the values of all repetitions.
  private func length(of steps: [ProtocolDescription.Step]) -> Int {
    var length = 0
    for step in steps {
      switch step {
      case .field(let field):
        if case .list(let list)? = values[field.name], field.flags.isEmpty { length = max(length, list.count) }
      case .tail(let steps), .when(_, let steps): length = max(length, self.length(of: steps))
      case .group, .skip: break
      }
    }
    return min(length, ProtocolDescription.Limit.repetitions)
  }

  /// Calculates the numbers that depend on other values: the counts of groups, and whether optional parts are present.
  private mutating func count(_ steps: [ProtocolDescription.Step]) {
    for step in steps {
      switch step {
      case .group(let steps, .field(let name)):
        // Without a list, the field's own value says how often the group is repeated.
        let length = length(of: steps)
        if length > 0 { counts[name] = max(counts[name] ?? 0, length) }
      case .tail(let steps): count(steps)
      case .when(let condition, let steps):
        if !condition.isElsewhere, values[condition.field] == nil {
          counts[condition.field] = hasValue(in: steps) ? condition.nearest : condition.outside
        }
        count(steps)
      case .group, .field, .skip: break
      }
    }
  }

  /// The value to write for a field; for a list, its next element.
  private mutating func value(_ field: ProtocolDescription.Field, isElement: Bool) -> PlainValue? {
    guard isElement, case .list(let list)? = values[field.name], field.flags.isEmpty else {
      return counts[field.name].map { .whole($0) } ?? values[field.name]
    }
    let place = cursors[field.name, default: 0]
    cursors[field.name] = place + 1
    return list.indices.contains(place) ? list[place] : nil
  }

  /// Writes the steps in their order. `isElement`: they are in a group.
  mutating func write(_ steps: [ProtocolDescription.Step], isElement: Bool = false) {
    for step in steps {
      switch step {
      case .skip(let count): body += [UInt8](repeating: 0, count: count)
      case .field(let field): write(field, value(field, isElement: isElement || field.isList))
      case .tail(let steps): if hasValue(in: steps) { write(steps, isElement: isElement) }
      case .when(let condition, let steps):
        if condition.numbers.contains(number(condition.field)) { write(steps, isElement: isElement) }
      case .group(let steps, let times):
        guard body.count <= ProtocolDescription.Limit.frame else { return }
        switch times {
        case .fixed(let count): write(steps, count)
        case .field(let name): write(steps, number(name))
        case .toEnd: write(steps, length(of: steps))
        case .prefixedBytes:
          let place = body.count
          body.append(0)
          write(steps, length(of: steps))
          body[place] = UInt8(clamping: body.count - place - 1)
        }
      }
    }
  }

  /// Writes the values of a block at their positions. Several values may have bits of the same register.
  mutating func write(_ block: ProtocolDescription.RegisterBlock) {
    var image = [UInt8](repeating: 0, count: block.byteCount)
    for placed in block.values {
      body = []
      write(placed.field, value(placed.field, isElement: placed.field.isList))
      for (index, byte) in body.enumerated() where placed.offset + index < image.count {
        image[placed.offset + index] |= byte
      }
    }
    body = image
  }

  private mutating func write(_ group: [ProtocolDescription.Step], _ times: Int) {
    for _ in 0..<max(0, min(times, ProtocolDescription.Limit.repetitions)) {
      guard body.count <= ProtocolDescription.Limit.frame else { return }
      write(group, isElement: true)
    }
  }

  /// The number that was last written for a field, or that would be written.
  private func number(_ name: String) -> Int {
    written[name] ?? counts[name] ?? values[name]?.asNumber.flatMap { Int(exactly: $0) } ?? 0
  }

  private mutating func write(_ field: ProtocolDescription.Field, _ value: PlainValue?) {
    switch field.type {
    case .number(let format): write(field, format, value)
    case .scattered(let places, let sign): scatter(field.raw(for: value) ?? 0, places, sign)
    case .packedDate(let order):
      body.append(bits: UInt64(Self.date(value)), ProtocolDescription.NumberFormat(byteCount: 2, order: order))
    case .bytes(let count):
      var bytes: [UInt8] = []
      if case .bytes(let given)? = value { bytes = given }
      body += bytes.prefix(count) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
    case .text(let count, let padding):
      let text = Self.text(value).prefix(count)
      body += text + [UInt8](repeating: padding.first ?? 0, count: count - text.count)
    case .restOfText: body += Self.text(value)
    case .terminatedText: body += Self.text(value).filter { $0 != 0 } + [0]
    case .prefixedText:
      let text = Self.text(value).prefix(255)
      body += [UInt8(text.count)] + text
    case .digits(let count):
      let raw = field.raw(for: value) ?? 0
      written[field.name] = raw
      // With stay, the text that begins with the digits follows.
      if field.bits?.staysHere != true { body += Self.digits(raw, count) }
    case .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word, .plainText: body += TextWriting.text(field, value)
    }
  }

  private mutating func write(
    _ field: ProtocolDescription.Field, _ format: ProtocolDescription.NumberFormat, _ value: PlainValue?
  ) {
    if format.encoding == .float {
      let number = field.formula.linear?.inverse(value?.asNumber ?? 0) ?? 0
      let bits = format.byteCount == 4 ? UInt64(Float(number).bitPattern) : number.bitPattern
      return body.append(bits: bits, format)
    }
    let raw = field.raw(for: value) { values[$0]?.asNumber.flatMap { Int(exactly: $0) } } ?? 0
    written[field.name] = raw
    guard let part = field.bits else {
      // A number that doesn't fit is sent as the nearest number that does.
      return body.append(bits: format.bits(of: raw) ?? format.bits(of: format.nearest(to: raw)) ?? 0, format)
    }
    let mask: UInt64 = part.count >= 64 ? .max : 1 << UInt64(part.count) - 1
    pending |= (UInt64(truncatingIfNeeded: raw) & mask) << UInt64(min(part.lowest, 63))
    guard !part.staysHere else { return }
    body.append(bits: pending, format)
    pending = 0
  }

  private mutating func scatter(
    _ raw: Int, _ places: [ProtocolDescription.BitPlace], _ sign: ProtocolDescription.BitPlace?
  ) {
    var rest = raw.magnitude
    for place in places.reversed() {
      pad(to: place.byte + 1)
      body[place.byte] |= UInt8(truncatingIfNeeded: (rest & (1 << UInt(place.count) - 1)) << UInt(place.lowest))
      rest >>= UInt(place.count)
    }
    guard let sign, raw < 0 else { return }
    pad(to: sign.byte + 1)
    body[sign.byte] |= 1 << UInt8(sign.lowest)
  }

  private static func text(_ value: PlainValue?) -> [UInt8] {
    if case .text(let text)? = value { Array(text.utf8.prefix(ProtocolDescription.Limit.text)) } else { [] }
  }

  /// A number in decimal digits, and blanks behind them.
  private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
    let digits = Array("\(max(0, number))".utf8).prefix(count)
    return digits + [UInt8](repeating: UInt8(ascii: " "), count: count - digits.count)
  }

  private static func date(_ value: PlainValue?) -> Int {
    guard case .text(let text)? = value else { return 0 }
    let parts = text.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, (2000...2127).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2])
    else { return 0 }
    return (parts[0] - 2000) << 9 | parts[1] << 5 | parts[2]
  }
}

extension ProtocolDescription.Step.Condition {
  /// A number with which the steps are present: the one at the limit that the description names.
  fileprivate var nearest: Int { min(max(0, numbers.lowerBound), numbers.upperBound) }
  /// A number with which they aren't.
  fileprivate var outside: Int { numbers.contains(0) ? numbers.upperBound + 1 : 0 }
}

extension ProtocolDescription.NumberFormat {
  /// The number nearest to `number` that this format can encode.
  func nearest(to number: Int) -> Int {
    let width = min(8 * byteCount, 63)
    switch encoding {
    case .unsigned: return min(max(0, number), width == 63 ? .max : 1 << width - 1)
    case .signed:
      let top = 8 * byteCount >= 64 ? Int.max : 1 << (width - 1) - 1
      return min(max(-top - 1, number), top)
    case .signMagnitude:
      let top = 8 * byteCount >= 64 ? Int.max : 1 << (width - 1) - 1
      return min(max(-top, number), top)
    case .bcd: return min(max(0, number), (0..<min(2 * byteCount, 18)).reduce(0) { value, _ in value * 10 + 9 })
    case .float: return number
    }
  }
}
