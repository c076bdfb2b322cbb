// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Tells which message a frame is, and what it says.
public struct MessageDecoder: Sendable {
  /// The description.
  public let description: ProtocolDescription
  private let plans: [FramingPlan?]
  /// The messages of each framing, by their places.
  private let candidates: [[Int]]
  /// The element that has the unit's number, of each framing.
  private let unitElements: [Int?]

  /// A decoder of the frames of `codec`.
  public init(_ codec: DescribedCodec) {
    let description = codec.description
    self.description = description
    plans = codec.kinds.map { if case .layout(let plan) = $0 { plan } else { nil } }
    unitElements = codec.kinds.indices.map { description.unitElement(of: $0) }
    candidates = codec.kinds.indices.map { framing in
      description.messages.indices.filter { description.messages[$0].hasFraming(framing) }
    }
  }

  /// The number of an element of a frame, by its place in the layout; nil where it has none.
  public func number(_ element: Int, _ header: DescribedHeader, _ content: RawSpan) -> Int? {
    guard plans.indices.contains(header.framing), let plan = plans[header.framing],
      plan.elements.indices.contains(element)
    else { return nil }
    switch plan.elements[element].kind {
    case .number(let format), .length(let format, _, _, _):
      return content.number(at: plan.offset(of: plan.places[element], bodyEnd: header.body.upperBound), format)
    default: return nil
    }
  }

  /// The unit that a frame comes from; nil where its protocol has no units. It may be none that there can be: an echo of what
  /// was sent. Allocates nothing.
  public func unit(_ header: DescribedHeader, _ content: RawSpan) -> Int? {
    guard let units = description.units, unitElements.indices.contains(header.framing),
      let element = unitElements[header.framing]
    else { return nil }
    return number(element, header, content).map { $0 &- units.received }
  }

  /// The message that a frame is, by its place; nil where the description has none for it. Several messages may fit a
  /// frame: then it is `expected` if that is one of them, as who has asked knows what is answered, or else the first.
  /// Allocates nothing.
  public func message(_ header: DescribedHeader, _ content: RawSpan, expected: Int? = nil) -> Int? {
    guard candidates.indices.contains(header.framing) else { return nil }
    if let expected, fits(expected, header, content) { return expected }
    for message in candidates[header.framing] where fits(message, header, content) { return message }
    return nil
  }

  /// Whether a frame can be this message: it is of its framing, from a unit that there can be, its elements are as the message wants them, and so is the
  /// text where the message is a pattern. Allocates nothing.
  public func fits(_ message: Int, _ header: DescribedHeader, _ content: RawSpan) -> Bool {
    let described = description.messages[message]
    guard described.hasFraming(header.framing) else { return false }
    if let units = description.units, let unit = unit(header, content), !units.range.contains(unit) { return false }
    if case .pattern(let pattern) = described.body, header.body.upperBound <= content.byteCount,
      !pattern.fits(content.extracting(header.body))
    {
      return false
    }
    for condition in described.conditions {
      guard let number = number(condition.element, header, content),
        condition.values.contains(number) != condition.isNegated
      else { return false }
    }
    return true
  }

  /// What a message says. `known` are raw numbers of fields that were read before, in other messages.
  public func decode(
    _ message: Int, _ header: DescribedHeader, _ content: RawSpan, known: [String: Int] = [:]
  ) -> DecodedMessage {
    let body = header.body.upperBound <= content.byteCount ? content.extracting(header.body) : RawSpan()
    var decoding = Decoding(message, known)
    switch description.messages[message].body {
    case .nothing: break
    case .fields(let steps): decoding.readAll(steps, of: body)
    case .tags(let tags): decoding.readTags(tags, of: body)
    case .pairs(let pairs): decoding.readPairs(pairs, of: body, framing: description.framings[header.framing])
    case .table(let table): decoding.readTable(table, of: [UInt8](copying: body))
    case .columns(let columns): decoding.readColumns(columns, of: [UInt8](copying: body))
    case .pattern(let pattern): decoding.readPattern(pattern, of: [UInt8](copying: body))
    case .registers(let block): decoding.readBlock(block, of: body)
    }
    decoding.settleVariants()
    decoding.result.unit = unit(header, content)
    return decoding.result
  }
}
