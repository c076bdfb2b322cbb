// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension DescribedCodec {
  /// Appends one frame to `output`. `payload` is the frame's content in the form in which decoding delivers it;
  /// constants, length and checks in it are computed anew.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame; `output` is unchanged then.
  public func encode(
    _ header: DescribedHeader, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    guard kinds.indices.contains(header.framing), header.body.lowerBound >= 0,
      header.body.upperBound <= payload.byteCount
    else { throw .payloadTooShort(byteCount: payload.byteCount, minimum: header.body.upperBound) }
    let body = payload.extracting(header.body)
    switch kinds[header.framing] {
    case .window(let codec): try codec.encode(NoHeader(), payload: payload, into: &output)
    case .pairs(let block): output += block.closed(body)
    case .layout(let plan):
      var numbers: [Int: Int] = [:]
      for index in plan.elements.indices {
        guard case .number(let format) = plan.elements[index].kind else { continue }
        let offset = plan.offset(of: plan.places[index], bodyEnd: header.body.upperBound)
        numbers[index] = payload.number(at: offset, format)
      }
      guard let number = header.number else { return try append(plan, numbers, body: body, into: &output) }
      var frame: [UInt8] = []
      try append(plan, numbers, body: body, into: &frame)
      output += ModbusHeader.wrapped(frame, number: number)
    }
  }

  /// Makes one frame of the framing at index `framing`. `numbers` are the values of its elements, by their index in the
  /// layout; an element without a number is 0.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame: the body is too long, or has a byte that ends the
  ///   frame; a number doesn't fit its element.
  public func frame(_ framing: Int, _ numbers: [Int: Int] = [:], body: [UInt8]) throws(FrameEncodingError) -> [UInt8] {
    var output: [UInt8] = []
    switch kinds[framing] {
    case .window(let codec): try codec.encode(NoHeader(), payload: body.span.bytes, into: &output)
    case .pairs:
      try encode(DescribedHeader(framing: framing, body: 0..<body.count), payload: body.span.bytes, into: &output)
    case .layout(let plan): try append(plan, numbers, body: body.span.bytes, into: &output)
    }
    return output
  }

  private func append(
    _ plan: FramingPlan, _ numbers: [Int: Int], body: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    if plan.extent == .fixed, body.byteCount != plan.fixedBody {
      throw body.byteCount > plan.fixedBody
        ? .payloadTooLong(byteCount: body.byteCount, limit: plan.fixedBody)
        : .payloadTooShort(byteCount: body.byteCount, minimum: plan.fixedBody)
    }
    var content: [UInt8] = []
    var digits: [UInt8] = []
    for (index, element) in plan.elements.enumerated() {
      switch element.kind {
      case .constant(let bytes):
        // In hexadecimal frames the constants at both ends are not part of the content.
        if plan.places[index].byteCount > 0 { content += bytes }
      case .number(let format):
        guard let bits = format.bits(of: numbers[index] ?? 0) else { throw .unencodableByte(offset: content.count) }
        content.append(bits: bits, format)
      case .length(let format, _, _, _):
        guard let bits = plan.lengthBits(bodyCount: body.byteCount).flatMap(format.bits) else {
          throw .payloadTooLong(byteCount: body.byteCount, limit: plan.limit)
        }
        content.append(bits: bits, format)
      case .body: content.append(contentsOf: body)
      case .check(let check):
        if body.isEmpty && !check.isPresentIfEmpty { continue }
        guard let check = plan.checks.first(where: { $0.place == plan.places[index] }) else { continue }
        let bodyEnd = plan.front + body.byteCount
        let range = plan.coveredStart(check, bodyEnd: bodyEnd)..<plan.coveredEnd(check, bodyEnd: bodyEnd)
        // A check in front of the elements that it covers would need a second pass, which isn't supported.
        guard range.upperBound <= content.count else { throw .unencodableByte(offset: content.count) }
        if plan.hexadecimal?.checksCoverDigits == true {
          digits = plan.digits(of: content)
          let missing = plan.hexadecimal?.beginsWithOneDigit == true ? 1 : 0
          let covered = max(0, 2 * range.lowerBound - missing)..<(2 * range.upperBound - missing)
          check.engine.write(over: digits.span.bytes.extracting(covered), into: &content)
        } else {
          let covered = content
          check.engine.write(over: covered.span.bytes.extracting(range), into: &content)
        }
      }
    }
    let frame = plan.hexadecimal == nil ? content : plan.start + plan.digits(of: content) + plan.end
    guard frame.count <= plan.limit else { throw .payloadTooLong(byteCount: frame.count, limit: plan.limit) }
    guard case .whole(frame.count, _, _) = plan.probe(frame.span.bytes, at: 0) else {
      // For example, a byte of the body ends the frame early.
      throw .unencodableByte(offset: 0)
    }
    output += frame
  }
}

extension FramingPlan {
  /// The number in the length field for a body of `bodyCount` bytes; nil if there is no length field, or the number
  /// doesn't fit.
  func lengthBits(bodyCount: Int) -> Int? {
    guard let length else { return nil }
    var number = bodyCount - length.adjust
    if length.countsDigits { number *= 2 }
    guard number >= 0 else { return nil }
    if length.hasNibbleCheck {
      guard number <= 0xFFF else { return nil }
      let sum = (number & 0xF) + (number >> 4 & 0xF) + (number >> 8)
      number |= ((0 &- sum) & 0xF) << 12
    }
    return number
  }

  /// The content in upper-case hexadecimal digits.
  func digits(of content: [UInt8]) -> [UInt8] {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * content.count)
    for (index, byte) in content.enumerated() {
      if index == 0, hexadecimal?.beginsWithOneDigit == true {
        digits.append(HexDigits.digit(byte & 0xF))
      } else {
        HexDigits.append(byte, to: &digits)
      }
    }
    return digits
  }
}
