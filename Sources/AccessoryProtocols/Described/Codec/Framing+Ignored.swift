// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription.Framing {
  /// What a body carries without the bytes and texts that count for nothing; nil when it has none of them, so that it can
  /// be taken as it is. Time: the body's length times that of the texts.
  func withoutIgnored(_ body: RawSpan) -> [UInt8]? {
    var rest = [UInt8](copying: body)
    if !ignoredBytes.isEmpty { rest.removeAll(where: ignoredBytes.contains) }
    for text in ignoredTexts where !text.isEmpty { rest = Array(rest.pieces(between: text).joined()) }
    return rest.count == body.byteCount ? nil : rest
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
