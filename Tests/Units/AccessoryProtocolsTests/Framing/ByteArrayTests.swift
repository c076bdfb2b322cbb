// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct ByteArrayTests {
  /// Fields of frames lie anywhere, and some processors read no number across a multiple of its size.
  @Test func numbersAreReadAtEveryAlignment() {
    func check<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) {
      let size = Number.bitWidth / 8
      let bytes: [UInt8] = (0..<32).map { $0 &* 37 &+ 200 }
      for offset in 0...bytes.count - size {
        let expected = bytes[offset..<offset + size].reversed().reduce(Number.zero) { $0 << 8 | Number($1) }
        #expect(bytes.span.bytes.load(littleEndianAt: offset, as: type) == expected, "\(type) at \(offset)")
        var appended = Array(bytes[..<offset])
        appended.append(littleEndian: expected)
        #expect(appended[...] == bytes[..<(offset + size)], "\(type) at \(offset)")
      }
    }
    check(UInt16.self)
    check(UInt32.self)
    check(UInt64.self)
    check(Int64.self)
  }
}
