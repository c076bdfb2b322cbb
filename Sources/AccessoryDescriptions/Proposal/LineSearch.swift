// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds out whether bytes are lines of text, and how the lines end.
enum LineSearch {
  /// A proposal for lines; nil if fewer than 95 of 100 bytes are text, or if there are fewer than two lines.
  static func proposal(of bytes: [UInt8]) -> FramingProposal? {
    let textCount = bytes.count(where: isText)
    guard textCount * 100 >= bytes.count * 95 else { return nil }
    for end: [UInt8] in [[13, 10], [10], [13]] {
      let lines = split(bytes, at: end)
      guard lines.count >= 2 else { continue }
      var samples: [[UInt8]] = []
      for line in lines where samples.count < FrameSearch.sampleLimit && !samples.contains(line) {
        samples.append(line)
      }
      return FramingProposal(
        start: [], extent: .line, check: nil, end: end, samples: samples, frameCount: lines.count,
        framedByteCount: lines.reduce(0) { $0 + $1.count }, byteCount: bytes.count)
    }
    return nil
  }

  private static func isText(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20..<0x7F, 9, 10, 13, 0x80...: true
    default: false
    }
  }

  /// The lines with their ends. Bytes behind the last end are left out.
  private static func split(_ bytes: [UInt8], at end: [UInt8]) -> [[UInt8]] {
    guard let last = end.last else { return [] }
    var lines: [[UInt8]] = []
    var begin = 0
    for index in bytes.indices where bytes[index] == last && index + 1 - begin >= end.count {
      guard bytes[(index + 1 - end.count)...index].elementsEqual(end) else { continue }
      lines.append(Array(bytes[begin...index]))
      begin = index + 1
    }
    return lines
  }
}
