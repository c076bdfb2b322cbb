// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The state while a message is decoded: the result so far, and the read position.
struct Decoding {
  var result: DecodedMessage
  private let known: [String: Int]
  private var places: [String: Int] = [:]
  private var valueCount = 0
  /// Numbers whose meaning depends on another field, with the index of their value and the index in its list.
  private var undecided: [(place: Int, element: Int?, field: ProtocolDescription.Field, raw: Int, bits: UInt64?)] = []
  private var offset = 0
  /// Whether an unknown tag has ended the reading.
  private var isCut = false

  init(_ message: Int, _ known: [String: Int]) {
    result = DecodedMessage(message: message)
    self.known = known
  }

  // MARK: - Values

  /// Adds a value, or appends it to the list of its name.
  mutating func add(_ field: ProtocolDescription.Field, _ value: PlainValue, raw: Int?, isElement: Bool = false) {
    guard valueCount < ProtocolDescription.Limit.values else { return result.problemCount += 1 }
    valueCount += 1
    let isList = isElement || field.isList
    if let place = places[field.name] {
      if isList, case .list(let list) = result.values[place].value {
        // The list is taken out first, so that appending doesn't copy it.
        var list = list
        result.values[place].value = .nothing
        // The names of a field's flags are elements of the list, too.
        if case .list(let names) = value { list += names } else { list.append(value) }
        result.values[place].value = .list(list)
      } else {
        result.values[place].value = value
      }
      result.values[place].raw = raw
    } else {
      places[field.name] = result.values.count
      result.values.append(
        DescribedValue(
          field.name, isList && !value.isList ? .list([value]) : value, unit: field.unit, quantity: field.quantity,
          role: field.role, isHidden: field.isHidden, raw: raw))
    }
  }

  /// Adds the meaning of a raw number. Counts a problem if the number has none, unless the description says that it
  /// means "unknown".
  private mutating func add(_ raw: Int, _ field: ProtocolDescription.Field, _ isElement: Bool, bits: UInt64? = nil) {
    if field.formula.linear == nil, field.formula.dependsOnOthers {
      add(field, .nothing, raw: raw, isElement: isElement)
      return wait(field, raw, bits)
    }
    let value = field.meaning(of: raw, bits: bits)
    if field.isNonsense(raw, value) { result.problemCount += 1 }
    add(field, value, raw: raw, isElement: isElement)
  }

  /// Remembers the value that was added last, as it is calculated when all fields have been read.
  private mutating func wait(_ field: ProtocolDescription.Field, _ raw: Int, _ bits: UInt64?) {
    guard let place = places[field.name] else { return }
    var element: Int?
    if case .list(let list) = result.values[place].value { element = list.count - 1 }
    undecided.append((place, element, field, raw, bits))
  }

  /// Adds a field that could not be read.
  mutating func addProblem(_ field: ProtocolDescription.Field, isElement: Bool = false) {
    result.problemCount += 1
    add(field, .nothing, raw: nil, isElement: isElement)
  }

  private func raw(of name: String) -> Int? { places[name].flatMap { result.values[$0].raw } ?? known[name] }

  /// Calculates the values that depend on other fields.
  mutating func settleFormulas() {
    for item in undecided {
      // The other field may be in the part that couldn't be read.
      if isCut, item.field.formula.names.contains(where: { raw(of: $0) == nil }) { continue }
      let value = item.field.meaning(of: item.raw, bits: item.bits, sent: { raw(of: $0) })
      if item.field.isNonsense(item.raw, value) { result.problemCount += 1 }
      set(item.place, item.element, to: value)
    }
  }

  private mutating func set(_ place: Int, _ element: Int?, to value: PlainValue) {
    guard let element else { return result.values[place].value = value }
    guard case .list(var list) = result.values[place].value, list.indices.contains(element) else { return }
    list[element] = value
    result.values[place].value = .list(list)
  }

  // MARK: - Bytes

  /// Reads all steps from the body.
  mutating func readAll(_ steps: [ProtocolDescription.Step], of body: RawSpan) {
    _ = read(steps, of: body, depth: 0, end: body.byteCount)
    for step in steps {
      if case .field(let field) = step, field.isList, !field.unknownNumbers.isEmpty { dropAbsent([field]) }
    }
  }

  /// Reads steps; returns false if the body ends before them.
  private mutating func read(
    _ steps: [ProtocolDescription.Step], of body: RawSpan, depth: Int, end: Int
  ) -> Bool {
    for step in steps {
      switch step {
      case .skip(let count):
        guard offset + count <= end else {
          result.problemCount += 1
          return false
        }
        offset += count
      case .field(let field):
        guard read(field, of: body, isElement: depth > 0, end: end) else {
          addProblem(field, isElement: depth > 0)
          return false
        }
      case .tail(let steps):
        guard offset < end else { return true }
        return read(steps, of: body, depth: depth, end: end)
      case .when(let condition, let steps):
        let number = raw(of: condition.field)
        if number == nil, condition.isElsewhere {
          // Where the following fields are depends on it.
          result.problemCount += 1
          isCut = true
          return false
        }
        guard let number, condition.numbers.contains(number) else { continue }
        guard read(steps, of: body, depth: depth, end: end) else { return false }
      case .group(let steps, let times):
        guard depth < ProtocolDescription.Limit.nesting, repeated(steps, times, of: body, depth: depth, end: end) else {
          return false
        }
      }
    }
    return true
  }

  private mutating func repeated(
    _ steps: [ProtocolDescription.Step], _ times: ProtocolDescription.Times, of body: RawSpan, depth: Int, end: Int
  ) -> Bool {
    var count = ProtocolDescription.Limit.repetitions
    var stop = end
    var isToEnd = false
    switch times {
    case .fixed(let number): count = min(count, number)
    case .field(let name):
      guard let number = raw(of: name), (0...count).contains(number) else {
        result.problemCount += 1
        return false
      }
      count = number
    case .toEnd: isToEnd = true
    case .prefixedBytes:
      guard offset < end, offset + 1 + Int(body.byte(at: offset)) <= end else {
        result.problemCount += 1
        return false
      }
      stop = offset + 1 + Int(body.byte(at: offset))
      offset += 1
      isToEnd = true
    }
    // A list without elements is empty, not unknown.
    if case .field(let field)? = steps.first, places[field.name] == nil, count == 0 || isToEnd && offset >= stop {
      places[field.name] = result.values.count
      result.values.append(
        DescribedValue(field.name, .list([]), unit: field.unit, quantity: field.quantity, isHidden: field.isHidden))
    }
    defer { if case .fixed = times { dropAbsent(steps.flatMap(\.fields)) } }
    for _ in 0..<count {
      if isToEnd && offset >= stop { return true }
      let before = offset
      guard read(steps, of: body, depth: depth + 1, end: stop) else { return false }
      if offset == before { return true }
    }
    return true
  }

  /// Lists with room for more than there are: the last places, with numbers that mean "unknown", are no elements of them.
  private mutating func dropAbsent(_ fields: [ProtocolDescription.Field]) {
    for field in fields where !field.unknownNumbers.isEmpty {
      guard let place = places[field.name], case .list(var list) = result.values[place].value else { continue }
      result.values[place].value = .nothing
      while list.last == .nothing { list.removeLast() }
      result.values[place].value = .list(list)
    }
  }

  /// Reads a field; returns false if there are too few bytes for it.
  private mutating func read(
    _ field: ProtocolDescription.Field, of body: RawSpan, isElement: Bool, end: Int
  ) -> Bool {
    switch field.type {
    case .number(let format): return read(field, format, of: body, isElement: isElement, end: end)
    case .scattered(let places, let sign):
      guard let raw = body.scattered(places, sign: sign) else { return false }
      add(raw, field, isElement)
    case .packedDate(let order):
      guard offset + 2 <= end else { return false }
      let raw = Int(body.integer(at: offset, byteCount: 2, order))
      offset += 2
      let date = field.unknownNumbers.contains(raw) ? .nothing : Self.date(raw)
      if field.isNonsense(raw, date) { result.problemCount += 1 }
      add(field, date, raw: raw, isElement: isElement)
    case .bytes(let count):
      guard offset + count <= end else { return false }
      add(field, .bytes([UInt8](copying: body.extracting(offset..<(offset + count)))), raw: nil, isElement: isElement)
      offset += count
    case .text(let count, let padding):
      guard offset + count <= end else { return false }
      addText(field, body.extracting(offset..<(offset + count)), padding, isElement)
      offset += count
    case .restOfText(let padding):
      addText(field, body.extracting(offset..<end), padding, isElement)
      offset = end
    case .terminatedText:
      let stop = ByteSearch.firstIndex(of: 0, in: body.extracting(0..<end), from: offset)
      guard stop < end else { return false }
      addText(field, body.extracting(offset..<stop), [], isElement)
      offset = stop + 1
    case .prefixedText:
      guard offset < end else { return false }
      let count = Int(body.byte(at: offset))
      guard offset + 1 + count <= end else { return false }
      addText(field, body.extracting((offset + 1)..<(offset + 1 + count)), [], isElement)
      offset += 1 + count
    case .digits(let count):
      guard offset + count <= end else { return false }
      addDigits(field, body.extracting(offset..<(offset + count)), isElement)
      if field.bits?.staysHere != true { offset += count }
    case .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word, .plainText: return false
    }
    return true
  }

  private mutating func read(
    _ field: ProtocolDescription.Field, _ format: ProtocolDescription.NumberFormat, of body: RawSpan, isElement: Bool,
    end: Int
  ) -> Bool {
    let count = format.byteCount
    guard offset + count <= end else { return false }
    var bits: UInt64 = 0
    for index in 0..<count {
      bits |= UInt64(body.byte(at: offset + index)) << format.shift(ofByte: index)
    }
    if field.bits?.staysHere != true { offset += count }
    if format.encoding == .float {
      let number = count == 4 ? Self.single(UInt32(truncatingIfNeeded: bits)) : Double(bitPattern: bits)
      let value = field.meaning(of: number)
      if value == .nothing, !number.isFinite || field.unknownNumbers.isEmpty { result.problemCount += 1 }
      add(field, value, raw: nil, isElement: isElement)
      return true
    }
    guard let whole = format.whole(bits) else {
      addProblem(field, isElement: isElement)
      return true
    }
    let raw = field.taken(from: whole)
    add(raw, field, isElement, bits: bits)
    return true
  }

  /// The shortest decimal number with this encoding: 230.2, and not 230.1999969.
  private static func single(_ bits: UInt32) -> Double {
    let number = Float(bitPattern: bits)
    return Double(number.description) ?? Double(number)
  }

  /// Adds the number that the digits at the beginning are, as `11` of `11.XW`.
  private mutating func addDigits(_ field: ProtocolDescription.Field, _ bytes: RawSpan, _ isElement: Bool) {
    var raw: Int?
    for index in 0..<min(bytes.byteCount, ProtocolDescription.Limit.digits) {
      let byte = bytes.byte(at: index)
      guard (0x30...0x39).contains(byte) else { break }
      raw = (raw ?? 0) * 10 + Int(byte - 0x30)
    }
    guard let raw else { return addProblem(field, isElement: isElement) }
    add(raw, field, isElement)
  }

  private mutating func addText(
    _ field: ProtocolDescription.Field, _ bytes: RawSpan, _ padding: [UInt8], _ isElement: Bool
  ) {
    var text = [UInt8](copying: bytes.extracting(0..<min(bytes.byteCount, ProtocolDescription.Limit.text)))
    // What stands behind a zero byte is left from an earlier, longer text.
    if padding.contains(0), let end = text.firstIndex(of: 0) { text.removeSubrange(end...) }
    while let last = text.last, padding.contains(last) { text.removeLast() }
    let string = String(decoding: text, as: UTF8.self)
    let isKnown = !string.isEmpty && !field.unknownTexts.contains(string)
    add(field, isKnown ? .text(string) : .nothing, raw: nil, isElement: isElement)
  }

  /// A date such as `2022-03-28`; nothing if the day or the month is impossible.
  static func date(_ raw: Int) -> PlainValue {
    let (day, month, year) = (raw & 0x1F, raw >> 5 & 0xF, 2000 + raw >> 9)
    guard (1...31).contains(day), (1...12).contains(month) else { return .nothing }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return .text("\(year)-\(two(month))-\(two(day))")
  }

  /// Reads the values of a block at their positions.
  mutating func readBlock(_ block: ProtocolDescription.RegisterBlock, of body: RawSpan) {
    for value in block.values {
      offset = value.offset
      if !read(value.field, of: body, isElement: false, end: body.byteCount) { addProblem(value.field) }
    }
    dropAbsent(block.values.map(\.field).filter(\.isList))
  }

  // MARK: - Tags

  /// Reads tags with their values. Stops at an unknown tag, since the length of its value isn't known.
  mutating func readTags(_ tags: [UInt8: [ProtocolDescription.Step]], of body: RawSpan) {
    while offset < body.byteCount {
      guard let steps = tags[body.byte(at: offset)] else {
        isCut = true
        return result.problemCount += 1
      }
      offset += 1
      guard read(steps, of: body, depth: 0, end: body.byteCount) else { return }
    }
  }
}

extension RawSpan {
  /// The number in these bits, the most significant first; nil if one of their bytes is missing.
  func scattered(_ places: [ProtocolDescription.BitPlace], sign: ProtocolDescription.BitPlace?) -> Int? {
    var value = 0
    for place in places {
      guard place.byte < byteCount else { return nil }
      value = value << place.count | Int(byte(at: place.byte)) >> place.lowest & (1 << place.count - 1)
    }
    guard let sign else { return value }
    guard sign.byte < byteCount else { return nil }
    return byte(at: sign.byte) >> UInt8(sign.lowest) & 1 == 1 ? -value : value
  }
}
