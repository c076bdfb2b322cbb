// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription.Framing {
  /// What a body carries without the bytes and texts that count for nothing; nil when it has none of them, so that it can
  /// be taken as it is. Time: the body's length times that of the texts.
  func withoutIgnored(_ body: RawSpan) -> [UInt8]? {
    var rest: [UInt8] = []
    var start = 0
    if !ignoredBytes.isEmpty {
      for index in 0..<body.byteCount where ignoredBytes.contains(body.byte(uncheckedAt: index)) {
        rest += [UInt8](copying: body.extracting(start..<index))
        start = index + 1
      }
    }
    let hasBytes = start > 0
    guard hasBytes || !ignoredTexts.isEmpty else { return nil }
    if hasBytes { rest += [UInt8](copying: body.extracting(start..<body.byteCount)) }
    var isChanged = hasBytes
    for text in ignoredTexts {
      let shorter = hasBytes || isChanged ? Self.without(text, rest.span.bytes) : Self.without(text, body)
      guard let shorter else { continue }
      (rest, isChanged) = (shorter, true)
    }
    return isChanged ? rest : nil
  }

  /// Bytes without each occurrence of a text; nil when it isn't in them.
  private static func without(_ text: [UInt8], _ bytes: RawSpan) -> [UInt8]? {
    guard let first = text.first else { return nil }
    var rest: [UInt8] = []
    var (start, index) = (0, 0)
    while true {
      index = ByteSearch.firstIndex(of: first, in: bytes, from: index)
      guard index + text.count <= bytes.byteCount else { break }
      guard bytes.extracting(index..<bytes.byteCount).starts(with: text) else {
        index += 1
        continue
      }
      rest += [UInt8](copying: bytes.extracting(start..<index))
      index += text.count
      start = index
    }
    return start == 0 ? nil : rest + [UInt8](copying: bytes.extracting(start..<bytes.byteCount))
  }
}

extension FramingPlan {
  /// A frame without what counts for nothing in its body, and where the body is then; nil when there is nothing of that.
  func withoutIgnored(_ frame: RawSpan, _ body: Range<Int>) -> (content: [UInt8], body: Range<Int>)? {
    guard let rest = framing.withoutIgnored(frame.extracting(body)) else { return nil }
    let content =
      [UInt8](copying: frame.extracting(0..<body.lowerBound)) + rest
      + [UInt8](copying: frame.extracting(body.upperBound..<frame.byteCount))
    return (content, body.lowerBound..<(body.lowerBound + rest.count))
  }
}
