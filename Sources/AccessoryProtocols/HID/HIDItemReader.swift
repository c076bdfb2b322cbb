// SPDX-License-Identifier: Apache-2.0

/// One item of a report descriptor (HID 1.11, 6.2.2.2).
struct HIDItem {
  /// Main, global, local: the two bits of the first byte.
  enum Kind: UInt8 {
    case main = 0
    case global, local, reserved
  }

  let kind: Kind
  let tag: UInt8
  /// How many bytes its data has: 0, 1, 2 or 4.
  let size: Int
  /// Its data as a number without a sign.
  let unsigned: UInt32
  /// Its place in the descriptor.
  let offset: Int

  /// Its data as a number with a sign.
  var signed: Int64 {
    switch size {
    case 1: Int64(Int8(truncatingIfNeeded: unsigned))
    case 2: Int64(Int16(truncatingIfNeeded: unsigned))
    default: Int64(Int32(bitPattern: unsigned))
    }
  }
}

/// Takes a descriptor apart. Every step advances by at least one byte.
struct HIDItemReader {
  private let bytes: [UInt8]
  private var offset = 0
  /// The place of an item that the end of the bytes cuts.
  private(set) var cut: Int?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next item; nil at the end. Long items, which nothing defines, are skipped.
  mutating func next() -> HIDItem? {
    while offset < bytes.count {
      let start = offset
      let prefix = bytes[start]
      guard prefix != 0xFE else {
        guard start + 1 < bytes.count, start + 3 + Int(bytes[start + 1]) <= bytes.count else { return end(start) }
        offset = start + 3 + Int(bytes[start + 1])
        continue
      }
      let size = [0, 1, 2, 4][Int(prefix & 3)]
      guard start + 1 + size <= bytes.count else { return end(start) }
      var value: UInt32 = 0
      for index in (0..<size).reversed() { value = value << 8 | UInt32(bytes[start + 1 + index]) }
      offset = start + 1 + size
      return HIDItem(
        kind: HIDItem.Kind(rawValue: prefix >> 2 & 3) ?? .reserved, tag: prefix >> 4, size: size, unsigned: value,
        offset: start)
    }
    return nil
  }

  private mutating func end(_ start: Int) -> HIDItem? {
    (cut, offset) = (start, bytes.count)
    return nil
  }
}
