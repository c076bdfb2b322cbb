// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription.Framing {
  /// A body without the bytes and texts that the framing ignores; nil when it has none of them, so that it needn't be
  /// copied. Takes a time proportional to the body's length times the length of the texts.
  func withoutIgnored(_ body: RawSpan) -> [UInt8]? {
    var rest = [UInt8](copying: body)
    if !ignoredBytes.isEmpty { rest.removeAll(where: ignoredBytes.contains) }
    for text in ignoredTexts where !text.isEmpty { rest = Array(rest.pieces(between: text).joined()) }
    return rest.count == body.byteCount ? nil : rest
  }
}

extension FramingPlan {
  /// A frame without the bytes and texts that are ignored in its body, and the body's new range; nil when it has none
  /// of them.
  func withoutIgnored(_ frame: RawSpan, _ body: Range<Int>) -> (content: [UInt8], body: Range<Int>)? {
    guard let rest = framing.withoutIgnored(frame.extracting(body)) else { return nil }
    let content =
      [UInt8](copying: frame.extracting(0..<body.lowerBound)) + rest
      + [UInt8](copying: frame.extracting(body.upperBound..<frame.byteCount))
    return (content, body.lowerBound..<(body.lowerBound + rest.count))
  }
}
