// SPDX-License-Identifier: Apache-2.0

// The fields of messages: numbers with the least significant byte first. What a payload is too short for is zero, as the
// zeros at its end aren't sent, and neither are extensions that the sender doesn't know.

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
  /// The number, unless it is the one that stands for none.
  func unless(_ none: Self) -> Self? { self == none ? nil : self }
}

extension [UInt8] {
  /// Appends a floating-point number.
  mutating func append(littleEndian value: Float) { append(littleEndian: value.bitPattern) }

  /// Appends as many of the bytes as fit into `count`, and zeros behind them.
  mutating func append(_ bytes: some Collection<UInt8>, count: Int) {
    let taken = bytes.prefix(count)
    append(contentsOf: taken)
    append(contentsOf: repeatElement(0, count: count - taken.count))
  }

  /// Without the zeros at the end, but at least one byte.
  var withoutTrailingZeros: [UInt8] {
    var end = count
    while end > 1, self[end - 1] == 0 { end -= 1 }
    return Array(self[..<end])
  }
}
