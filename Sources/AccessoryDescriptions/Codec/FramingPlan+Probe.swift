// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The result of looking for a frame at one position of the stream.
enum FrameProbe {
  /// No frame of this framing begins here.
  case none
  /// A frame may begin here; at least this many bytes from here are needed to decide.
  case needs(Int)
  /// A frame begins here and takes `byteCount` bytes of the stream. The positions of its body count from the start of
  /// its content.
  case whole(byteCount: Int, bodyStart: Int, bodyEnd: Int)
  /// The bytes look like the start of a frame, but they are no valid frame.
  case broken(FrameOutcome)
  /// The bytes are a frame but for a check.
  case damaged(DamagedCheck)
}

/// A wrong check of a frame. It holds no bytes, because a probe of each frame must cost little: `FramingPlan.mismatch` has them.
struct DamagedCheck {
  /// Which of the framing's checks it is.
  var index: Int
  /// Where the frame's body ends, from the start of its content.
  var bodyEnd: Int
  /// How many bytes of the stream the frame takes.
  var byteCount: Int
}

extension FramingPlan {
  /// Looks for a frame at `origin`. `searched` is the count of bytes from there in which an earlier call didn't find
  /// `end`.
  func probe(_ bytes: RawSpan, at origin: Int, searched: Int = 0) -> FrameProbe {
    let available = bytes.byteCount - origin
    for offset in 0..<start.count {
      if offset == available { return .needs(start.count) }
      if bytes.byte(uncheckedAt: origin + offset) != start[offset] { return .none }
    }
    if hexadecimal != nil { return probeDigits(bytes, at: origin, searched: searched) }
    switch extent {
    case .fixed: return finish(bytes, at: origin, bodyCount: fixedBody)
    case .counted:
      guard available >= front else { return .needs(front) }
      let frame = bytes.extracting(origin..<bytes.byteCount)
      if hasChecksInFront {
        for check in checks where check.isInFront && !isGood(check, frame, bodyEnd: front) {
          return .broken(.malformed)
        }
      }
      guard let count = bodyCount(frame) else { return .broken(.malformed) }
      return finish(bytes, at: origin, bodyCount: count, isFrontGood: true)
    case .terminated:
      guard let stop = endIndex(bytes, at: origin, from: max(front, searched)) else {
        return available >= limit ? .broken(.tooLong) : .needs(available + 1)
      }
      let total = stop - origin + end.count + tail
      guard total <= limit else { return .broken(.tooLong) }
      guard available >= total else { return .needs(total) }
      let digits = hasDecimalCheck ? decimalDigits(bytes, before: stop) : 0
      let bodyEnd = total - back - digits
      guard bodyEnd >= front else { return .broken(.malformed) }
      return verified(bytes.extracting(origin..<(origin + total)), bodyEnd: bodyEnd)
    }
  }

  private func finish(_ bytes: RawSpan, at origin: Int, bodyCount: Int, isFrontGood: Bool = false) -> FrameProbe {
    let total = front + bodyCount + back - (bodyCount == 0 ? missingIfEmpty : 0)
    guard total <= limit else { return .broken(.tooLong) }
    guard bytes.byteCount - origin >= total else { return .needs(total) }
    return verified(bytes.extracting(origin..<(origin + total)), bodyEnd: front + bodyCount, isFrontGood: isFrontGood)
  }

  private func verified(_ frame: RawSpan, bodyEnd: Int, isFrontGood: Bool = false) -> FrameProbe {
    guard constants.isEmpty || hasConstants(frame, bodyEnd: bodyEnd) else { return .broken(.malformed) }
    for (index, check) in checks.enumerated()
    where !(isFrontGood && check.isInFront) && !isGood(check, frame, bodyEnd: bodyEnd) {
      return damage(DamagedCheck(index: index, bodyEnd: bodyEnd, byteCount: frame.byteCount), frame.byteCount)
    }
    return .whole(byteCount: frame.byteCount, bodyStart: front, bodyEnd: bodyEnd)
  }

  // MARK: - Parts of a frame

  /// The number of bytes of the body, by the length field; nil when the field is invalid.
  private func bodyCount(_ content: RawSpan) -> Int? {
    guard let length, let field = content.number(at: length.offset, length.format) else { return nil }
    var number = field
    if length.hasNibbleCheck {
      var sum = 0
      for shift in [0, 4, 8, 12] { sum += number >> shift & 0xF }
      guard sum & 0xF == 0 else { return nil }
      number &= 0xFFF
    }
    // Rejects numbers far above the length of any frame, so that the arithmetic below can't overflow.
    guard (0...4 * ProtocolDescription.Limit.frame).contains(number) else { return nil }
    if length.countsDigits {
      guard number.isMultiple(of: 2) else { return nil }
      number /= 2
    }
    let count = number + length.adjust
    return count >= 0 ? count : nil
  }

  private func endIndex(_ bytes: RawSpan, at origin: Int, from offset: Int) -> Int? {
    // `end` may have begun within the bytes that were searched before, or have been found in them without all that stands behind it.
    var index = origin + max(front, offset - end.count - tail + 1)
    let stop = min(bytes.byteCount, origin + limit)
    while index + end.count <= stop {
      index = ByteSearch.firstIndex(of: end[0], in: bytes.extracting(0..<stop), from: index)
      guard index + end.count <= stop else { return nil }
      if (1..<end.count).allSatisfy({ bytes.byte(at: index + $0) == end[$0] }) { return index }
      index += 1
    }
    return nil
  }

  private func decimalDigits(_ bytes: RawSpan, before stop: Int) -> Int {
    var count = 0
    while count < 3, stop - count - 1 >= 0, (0x30...0x39).contains(bytes.byte(at: stop - count - 1)) { count += 1 }
    return count
  }

  private func hasConstants(_ content: RawSpan, bodyEnd: Int) -> Bool {
    for constant in constants {
      // The position of an end constant behind decimal digits, or behind an absent check, counts from the end of the
      // content.
      let offset = offset(of: constant.place, bodyEnd: bodyEnd)
      let start =
        constant.bytes == end && constant.place.offset + constant.place.byteCount == back && constant.place.isBehind
        ? content.byteCount - end.count : offset
      guard start >= 0, start + constant.bytes.count <= content.byteCount else { return false }
      for (index, byte) in constant.bytes.enumerated() where content.byte(at: start + index) != byte { return false }
    }
    return true
  }

  func offset(of place: Place, bodyEnd: Int) -> Int { place.isBehind ? bodyEnd + place.offset : place.offset }

  private func isGood(_ check: Check, _ content: RawSpan, bodyEnd: Int, digits: RawSpan? = nil) -> Bool {
    if bodyEnd == front, !check.isPresentIfEmpty { return true }
    guard let (place, covered) = ranges(check, content.byteCount, bodyEnd, digits?.byteCount) else { return false }
    let written = content.extracting(place)
    if let digits, coversDigits { return check.engine.isGood(written, over: digits.extracting(covered)) }
    return check.engine.isGood(written, over: content.extracting(covered))
  }

  /// A frame with a wrong check; or one that is too short for the check.
  private func damage(_ damaged: DamagedCheck, _ byteCount: Int, digitCount: Int? = nil) -> FrameProbe {
    let isComplete = ranges(checks[damaged.index], byteCount, damaged.bodyEnd, digitCount) != nil
    return isComplete ? .damaged(damaged) : .broken(.payloadDamaged)
  }

  /// What is wrong with the check of a damaged frame, which begins at `origin`.
  func mismatch(_ damaged: DamagedCheck, _ bytes: RawSpan, at origin: Int) -> CheckMismatch? {
    guard origin + damaged.byteCount <= bytes.byteCount else { return nil }
    let frame = bytes.extracting(origin..<(origin + damaged.byteCount))
    guard hexadecimal != nil else { return mismatch(damaged, frame, digits: nil) }
    let digits = frame.extracting(start.count..<(frame.byteCount - end.count))
    return content(ofDigits: digits).flatMap { mismatch(damaged, $0.span.bytes, digits: digits) }
  }

  private func mismatch(_ damaged: DamagedCheck, _ content: RawSpan, digits: RawSpan?) -> CheckMismatch? {
    let check = checks[damaged.index]
    guard let (place, covered) = ranges(check, content.byteCount, damaged.bodyEnd, digits?.byteCount) else {
      return nil
    }
    var calculated: [UInt8] = []
    if let digits, coversDigits {
      check.engine.write(over: digits.extracting(covered), into: &calculated)
    } else {
      check.engine.write(over: content.extracting(covered), into: &calculated)
    }
    var received: [UInt8] = []
    received.append(contentsOf: content.extracting(place))
    return CheckMismatch(received: received, calculated: calculated, isText: check.engine.check.notation != .bytes)
  }

  private var coversDigits: Bool { hexadecimal?.checksCoverDigits == true }

  /// Where a check is in the content, and what it covers: of the content, or of the digits where they are what is covered. Nil when
  /// the frame is too short for both.
  private func ranges(
    _ check: Check, _ byteCount: Int, _ bodyEnd: Int, _ digitCount: Int?
  ) -> (place: Range<Int>, covered: Range<Int>)? {
    let first = coveredStart(check, bodyEnd: bodyEnd)
    let last = coveredEnd(check, bodyEnd: bodyEnd)
    let place = offset(of: check.place, bodyEnd: bodyEnd)
    let count = check.isDecimal ? byteCount - end.count - place : check.place.byteCount
    guard first <= last, last <= byteCount, count >= 0, place + count <= byteCount else { return nil }
    guard let digitCount, let hexadecimal, coversDigits else { return (place..<(place + count), first..<last) }
    let missing = hexadecimal.beginsWithOneDigit ? 1 : 0
    guard 2 * last - missing <= digitCount, max(0, 2 * first - missing) <= 2 * last - missing else { return nil }
    return (place..<(place + count), max(0, 2 * first - missing)..<(2 * last - missing))
  }

  /// Where the bytes begin that a check covers: at an element, or at the body's start.
  func coveredStart(_ check: Check, bodyEnd: Int) -> Int {
    check.coversFromBody ? front : offset(of: check.first, bodyEnd: bodyEnd)
  }

  /// Where the bytes end that a check covers.
  func coveredEnd(_ check: Check, bodyEnd: Int) -> Int {
    check.coversToBody ? bodyEnd : offset(of: check.last, bodyEnd: bodyEnd) + check.last.byteCount
  }

  // MARK: - Hexadecimal digits

  private func probeDigits(_ bytes: RawSpan, at origin: Int, searched: Int) -> FrameProbe {
    let available = bytes.byteCount - origin
    var index = origin + max(start.count, searched)
    let stop = min(bytes.byteCount, origin + limit)
    // Without an end, what follows the last digit doesn't belong to the frame.
    let last = end.isEmpty ? origin + start.count + digitCount : stop
    while index < min(stop, last), HexDigits.value(bytes.byte(at: index)) != nil { index += 1 }
    if end.isEmpty, index < last { return index < bytes.byteCount ? .broken(.malformed) : .needs(last - origin) }
    for (offset, byte) in end.enumerated() {
      if index + offset >= stop { return available >= limit ? .broken(.tooLong) : .needs(index + offset - origin + 1) }
      if bytes.byte(at: index + offset) != byte { return .broken(.malformed) }
    }
    let digits = bytes.extracting((origin + start.count)..<index)
    guard let content = content(ofDigits: digits) else { return .broken(.malformed) }
    let span = content.span.bytes
    var bodyEnd = span.byteCount - back
    if length != nil {
      guard span.byteCount >= front, let count = bodyCount(span) else { return .broken(.malformed) }
      guard front + count == bodyEnd + (count == 0 ? missingIfEmpty : 0) else { return .broken(.malformed) }
      bodyEnd = front + count
    } else if bodyEnd + missingIfEmpty == front {
      bodyEnd = front
    }
    guard bodyEnd >= front, extent != .fixed || bodyEnd - front == fixedBody, hasConstants(span, bodyEnd: bodyEnd)
    else {
      return .broken(.malformed)
    }
    let byteCount = index + end.count - origin
    for (index, check) in checks.enumerated() where !isGood(check, span, bodyEnd: bodyEnd, digits: digits) {
      let damaged = DamagedCheck(index: index, bodyEnd: bodyEnd, byteCount: byteCount)
      return damage(damaged, span.byteCount, digitCount: digits.byteCount)
    }
    return .whole(byteCount: byteCount, bodyStart: front, bodyEnd: bodyEnd)
  }

  /// The number of digits of a frame of a fixed size.
  private var digitCount: Int {
    2 * (front + fixedBody + back) - (hexadecimal?.beginsWithOneDigit == true ? 1 : 0)
  }

  /// The bytes for these digits; nil when the number of digits is wrong.
  func content(ofDigits digits: RawSpan) -> [UInt8]? {
    let isOdd = hexadecimal?.beginsWithOneDigit == true
    guard digits.byteCount.isMultiple(of: 2) != isOdd else { return nil }
    var content: [UInt8] = []
    content.reserveCapacity(digits.byteCount / 2 + 1)
    var offset = 0
    if isOdd {
      guard let value = HexDigits.value(digits.byte(at: 0)) else { return nil }
      content.append(UInt8(value))
      offset = 1
    }
    while offset < digits.byteCount {
      guard let byte = HexDigits.byte(digits, at: offset) else { return nil }
      content.append(UInt8(byte))
      offset += 2
    }
    return content
  }
}

extension RawSpan {
  /// The whole number of this format at `offset`; nil when it goes beyond the bytes or beyond 63 bits, or isn't a whole
  /// number.
  func number(at offset: Int, _ format: ProtocolDescription.NumberFormat) -> Int? {
    let count = format.byteCount
    guard offset >= 0, count >= 1, count <= 8, offset <= byteCount - count else { return nil }
    var raw: UInt64 = 0
    for index in 0..<count {
      raw |= UInt64(byte(uncheckedAt: offset + index)) << format.shift(ofByte: index)
    }
    return format.whole(raw)
  }
}

extension ProtocolDescription.NumberFormat {
  /// The whole number that these bits stand for; nil beyond 63 bits, for digits above 9, and for floating point.
  func whole(_ raw: UInt64) -> Int? {
    let unused = UInt64(64 - 8 * byteCount)
    switch encoding {
    case .unsigned: return Int(exactly: raw)
    case .signed: return Int(Int64(bitPattern: raw << unused) >> Int64(unused))
    case .signMagnitude:
      let sign = UInt64(1) << (63 - unused)
      let amount = Int(raw & (sign - 1))
      return raw & sign != 0 ? -amount : amount
    case .bcd:
      var (value, rest, factor) = (0, raw, 1)
      while rest != 0 {
        guard rest & 0xF <= 9 else { return nil }
        value += Int(rest & 0xF) * factor
        rest >>= 4
        if rest != 0 { factor *= 10 }
      }
      return value
    case .float: return nil
    }
  }

  /// The bytes of a whole number; nil when it doesn't fit.
  public func bytes(of number: Int) -> [UInt8]? {
    bits(of: number).map { bits in
      var bytes: [UInt8] = []
      bytes.append(bits: bits, self)
      return bytes
    }
  }

  /// The bits of a whole number; nil when it doesn't fit.
  func bits(of number: Int) -> UInt64? {
    let width = 8 * byteCount
    switch encoding {
    case .unsigned: return number >= 0 && (width == 64 || number >> width == 0) ? UInt64(number) : nil
    case .signed:
      guard width == 64 || (-1 << (width - 1)..<1 << (width - 1)).contains(number) else { return nil }
      return UInt64(bitPattern: Int64(number)) & (width == 64 ? .max : (1 << UInt64(width)) - 1)
    case .signMagnitude:
      guard number.magnitude < 1 << UInt(width - 1) else { return nil }
      return UInt64(number.magnitude) | (number < 0 ? 1 << UInt64(width - 1) : 0)
    case .bcd:
      guard number >= 0 else { return nil }
      var (bits, rest, shift) = (UInt64(0), number, 0)
      while rest != 0 {
        guard shift < width else { return nil }
        bits |= UInt64(rest % 10) << UInt64(shift)
        rest /= 10
        shift += 4
      }
      return bits
    case .float: return nil
    }
  }
}

extension [UInt8] {
  /// Appends the lowest bytes of `bits`, in the byte order of `format`.
  mutating func append(bits: UInt64, _ format: ProtocolDescription.NumberFormat) {
    for index in 0..<format.byteCount {
      append(UInt8(truncatingIfNeeded: bits >> format.shift(ofByte: index)))
    }
  }
}
