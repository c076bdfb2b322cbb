// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Fields of messages. Numbers have their least significant byte first. Bytes behind the end of a payload are zero:
// version 2 doesn't send zeros at the end, and a sender may not know all extensions.

extension RawSpan {
  /// The number at `offset`.
  func padded<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type = Value.self) -> Value {
    var value: UInt64 = 0
    for index in 0..<(Value.bitWidth / 8) where offset + index < byteCount {
      value |= UInt64(byte(uncheckedAt: offset + index)) << UInt64(8 * index)
    }
    return Value(truncatingIfNeeded: value)
  }

  /// The floating-point number at `offset`.
  func paddedFloat(_ offset: Int) -> Float { Float(bitPattern: padded(offset)) }

  /// The bytes of a range.
  func padded(_ range: Range<Int>) -> [UInt8] { range.map { padded($0, as: UInt8.self) } }

  /// The text in a range, which ends at its first zero or with the range.
  func paddedText(_ range: Range<Int>) -> String {
    String(decoding: padded(range).prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension FixedWidthInteger {
  /// The number; nil if it is `none`, which means "unknown".
  func unless(_ none: Self) -> Self? { self == none ? nil : self }
}

extension [UInt8] {
  /// Appends a floating-point number.
  mutating func append(littleEndian value: Float) { append(littleEndian: value.bitPattern) }

  /// Appends the first `count` of the bytes; if there are fewer, zeros follow.
  mutating func append(_ bytes: some Collection<UInt8>, count: Int) {
    let taken = bytes.prefix(count)
    append(contentsOf: taken)
    append(contentsOf: repeatElement(0, count: count - taken.count))
  }

  /// The bytes without the zeros at their end, but at least one byte.
  var withoutTrailingZeros: [UInt8] {
    var end = count
    while end > 1, self[end - 1] == 0 { end -= 1 }
    return Array(self[..<end])
  }
}
