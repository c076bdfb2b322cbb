// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds and makes blocks of labels and values, as VE.Direct sends them.
struct PairBlock: Sendable {
  let pairs: ProtocolDescription.Pairs
  let limit: Int
  private let closing: [UInt8]

  init(_ pairs: ProtocolDescription.Pairs, limit: Int) throws(FramingParameterError) {
    guard (1...8).contains(pairs.begin.count), (1...32).contains(pairs.close.count),
      limit <= ProtocolDescription.Limit.frame
    else { throw FramingParameterError("pairs", "must have a begin of 1 to 8 bytes and a closing label of 1 to 32") }
    self.pairs = pairs
    self.limit = limit
    closing = pairs.begin + pairs.close + [pairs.separator]
  }

  /// Looks for a block at `origin`.
  func probe(_ bytes: RawSpan, at origin: Int) -> FrameProbe {
    let available = bytes.byteCount - origin
    if let missing = mismatch(pairs.begin, bytes, at: origin) { return missing }
    // A block ends with one byte behind its closing label; that byte may have any value.
    var index = origin
    let stop = min(bytes.byteCount, origin + limit)
    while true {
      index = ByteSearch.firstIndex(of: closing[0], in: bytes.extracting(0..<stop), from: index)
      guard index + closing.count < stop else {
        return available >= limit ? .broken(.tooLong) : .needs(available + 1)
      }
      if (1..<closing.count).allSatisfy({ bytes.byte(at: index + $0) == closing[$0] }) { break }
      index += 1
    }
    let end = index + closing.count + 1
    var sum: UInt8 = 0
    for offset in origin..<end { sum &+= bytes.byte(at: offset) }
    guard sum == 0 else { return .broken(.payloadDamaged) }
    return .whole(byteCount: end - origin, bodyStart: 0, bodyEnd: index - origin)
  }

  /// How many bytes to skip for a damaged block: all up to its closing byte, since a part of it may look like a block.
  func damagedByteCount(_ bytes: RawSpan, at origin: Int) -> Int {
    var index = origin
    while index + closing.count < bytes.byteCount {
      if closing.indices.allSatisfy({ bytes.byte(at: index + $0) == closing[$0] }) {
        return index + closing.count + 1 - origin
      }
      index += 1
    }
    return 1
  }

  private func mismatch(_ wanted: [UInt8], _ bytes: RawSpan, at origin: Int) -> FrameProbe? {
    for (offset, byte) in wanted.enumerated() {
      if origin + offset == bytes.byteCount { return .needs(wanted.count) }
      if bytes.byte(at: origin + offset) != byte { return FrameProbe.none }
    }
    return nil
  }

  /// A block of these lines, with a closing line.
  func closed(_ lines: RawSpan) -> [UInt8] {
    var block = [UInt8](copying: lines) + closing
    var sum: UInt8 = 0
    for byte in block { sum &+= byte }
    block.append(0 &- sum)
    return block
  }
}
