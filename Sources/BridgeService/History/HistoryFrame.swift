// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The frame around each record of the history's files: a marker, the length of the content (32 bits), the content's CRC-32/ISCSI,
/// and the content. Numbers are little-endian.
enum HistoryFrame {
  private static let marker: [UInt8] = [0xAB, 0x48, 0x52, 0x31]
  private static let headerSize = 12
  /// The longest content of a record, in bytes.
  static let longest = 16_384

  // MARK: - Writing

  /// Appends a record with this content to `bytes`.
  static func write(_ content: [UInt8], to bytes: inout [UInt8]) {
    bytes += marker
    add(UInt32(content.count), to: &bytes)
    add(CRC32.checksum(of: content.span.bytes, .crc32ISCSI), to: &bytes)
    bytes += content
  }

  static func add(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Appends a number in groups of seven bits, the lowest first. Small numbers take one byte.
  static func addShort(_ number: UInt32, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a text of at most 65,535 bytes with its length.
  static func add(_ text: String, to bytes: inout [UInt8]) {
    add(UInt16(clamping: text.utf8.count), to: &bytes)
    bytes += text.utf8.prefix(Int(UInt16.max))
  }

  // MARK: - Reading

  /// Calls `body` with the content of each record of a file in order; it returns whether the content is valid. Returns the number of
  /// bytes outside of valid records. After a damaged record it searches for the next valid one. No file can make this trap, or take
  /// more than a few times as long as an undamaged file of the same size.
  static func read(_ file: [UInt8], after signature: [UInt8], _ body: (ArraySlice<UInt8>) -> Bool) -> Int {
    guard file.starts(with: signature) else { return file.count }
    var place = signature.count
    var dropped = 0
    // Limits the work on checksums of damaged records.
    var budget = file.count
    // One for all records: most are short.
    var check = CRC32(.crc32ISCSI)
    while place < file.count {
      if budget > 0, let (content, checksum) = content(in: file, at: place) {
        check.reset()
        check.update(file.span.extracting(content.indices).bytes)
        if check.value == checksum, body(content) {
          place = content.endIndex
          continue
        }
        budget -= max(content.count, 64)
      }
      dropped += 1
      place += 1
    }
    return dropped
  }

  private static func content(in file: [UInt8], at place: Int) -> (ArraySlice<UInt8>, checksum: UInt32)? {
    guard file.count - place >= headerSize, file[place] == marker[0],
      file[place..<place + 4].elementsEqual(marker)
    else { return nil }
    var header = Reader(file[(place + 4)..<(place + headerSize)])
    guard let length = header.number(UInt32.self).map(Int.init), let checksum = header.number(UInt32.self),
      length <= longest, length <= file.count - place - headerSize
    else { return nil }
    return (file[(place + headerSize)..<(place + headerSize + length)], checksum)
  }

  /// Reads the numbers and texts of a record's content. Each method returns nil beyond the content's end.
  struct Reader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    init(_ bytes: ArraySlice<UInt8>) { (self.bytes, place) = (bytes, bytes.startIndex) }

    /// The number of bytes that are left.
    var count: Int { bytes.endIndex - place }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
      let size = Number.bitWidth / 8
      guard count >= size else { return nil }
      var number: Number = 0
      for index in 0..<size { number |= Number(truncatingIfNeeded: bytes[place + index]) << (index * 8) }
      place += size
      return number
    }

    /// A number as `addShort` writes it.
    mutating func short() -> UInt32? {
      var number: UInt64 = 0
      for shift in stride(from: UInt64(0), to: 35, by: 7) {
        guard let byte = self.number(UInt8.self) else { return nil }
        number |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return UInt32(exactly: number) }
      }
      return nil
    }

    mutating func float() -> Float? { number(UInt32.self).map { Float(bitPattern: $0) } }

    mutating func text(limit: Int) -> String? {
      guard let length = number(UInt16.self).map(Int.init), length <= limit, count >= length else { return nil }
      defer { place += length }
      return String(validating: bytes[place..<(place + length)], as: UTF8.self)
    }
  }
}
