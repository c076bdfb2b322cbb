// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Computes, compares and writes a described checksum. It has the tables.
struct CheckEngine: Sendable {
  let check: ProtocolDescription.Check
  private let engine: ChecksumEngine?
  private let byteCount: Int
  private let order: ByteOrder
  /// Whether the check is written as its plain bytes, none of which is changed. It is then compared as a number.
  private let isPlain: Bool

  init(_ check: ProtocolDescription.Check) {
    self.check = check
    if case .frame(let checksum) = check.algorithm { engine = ChecksumEngine(checksum) } else { engine = nil }
    (byteCount, order) = (check.algorithm.byteCount, check.order)
    isPlain = check.notation == .bytes && check.incrementedBytes.isEmpty
  }

  /// How many bytes the check takes in a frame; 0 for decimal digits, whose count varies.
  var writtenByteCount: Int {
    switch check.notation {
    case .bytes: check.algorithm.byteCount
    case .hexadecimal: 2 * check.algorithm.byteCount
    case .decimal: 0
    }
  }

  /// The checksum of `bytes`, in the lowest bytes.
  func value(over bytes: RawSpan) -> UInt32 {
    if let engine { return engine.value(engine.advance(engine.start, over: bytes)) }
    var sum: UInt32 = 0
    for offset in 0..<bytes.byteCount { sum &+= UInt32(bytes.byte(uncheckedAt: offset)) }
    return switch check.algorithm {
    case .sumTo55: (0x55 &- sum) & 0xFF
    case .sumToFF: (0xFF &- sum) & 0xFF
    case .negatedSum16: (0 &- sum) & 0xFFFF
    case .sum16: sum & 0xFFFF
    case .sum32, .frame: sum
    }
  }

  /// Whether `written` is the check of `covered`.
  func isGood(_ written: RawSpan, over covered: RawSpan) -> Bool {
    let value = value(over: covered)
    if isPlain {
      return written.byteCount == byteCount && written.integer(at: 0, byteCount: byteCount, order) == value
    }
    if check.notation == .decimal {
      var number = 0
      for offset in 0..<written.byteCount { number = number * 10 + Int(written.byte(at: offset)) - 0x30 }
      return (1...3).contains(written.byteCount) && number == Int(clamping: value)
    }
    let count = check.algorithm.byteCount
    guard written.byteCount == writtenByteCount else { return false }
    for index in 0..<count {
      let byte = byte(index, of: value)
      if check.notation == .bytes {
        if written.byte(at: index) != byte { return false }
      } else if HexDigits.byte(written, at: 2 * index) != Int(byte) {
        return false
      }
    }
    return true
  }

  /// Appends the check of `covered`.
  func write(over covered: RawSpan, into output: inout [UInt8]) {
    let value = value(over: covered)
    if check.notation == .decimal { return output += Array(String(value).utf8) }
    for index in 0..<check.algorithm.byteCount {
      let byte = byte(index, of: value)
      if check.notation == .bytes { output.append(byte) } else { HexDigits.append(byte, to: &output) }
    }
  }

  private func byte(_ index: Int, of value: UInt32) -> UInt8 {
    let byte = UInt8(
      truncatingIfNeeded: value >> UInt32(check.order.shift(ofByte: index, of: check.algorithm.byteCount)))
    return check.incrementedBytes.contains(byte) ? byte &+ 1 : byte
  }
}

/// Converts bytes to two hexadecimal digits and back.
enum HexDigits {
  /// The byte for the two digits at `offset`; nil if one of them isn't a digit.
  @inline(__always)
  static func byte(_ text: RawSpan, at offset: Int) -> Int? {
    guard let high = value(text.byte(at: offset)), let low = value(text.byte(at: offset + 1)) else { return nil }
    return high << 4 | low
  }

  /// The value of an upper-case or lower-case digit; nil if it isn't a digit.
  @inline(__always)
  static func value(_ digit: UInt8) -> Int? {
    switch digit {
    case 0x30...0x39: Int(digit) - 0x30
    case 0x41...0x46: Int(digit) - 0x37
    case 0x61...0x66: Int(digit) - 0x57
    default: nil
    }
  }

  /// Appends the byte as two upper-case digits.
  static func append(_ byte: UInt8, to output: inout [UInt8]) {
    output.append(digit(byte >> 4))
    output.append(digit(byte & 0xF))
  }

  /// The upper-case digit of 0…15.
  static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
