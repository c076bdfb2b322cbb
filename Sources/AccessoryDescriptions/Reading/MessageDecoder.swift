// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Finds out which message a frame is, and reads its values.
public struct MessageDecoder: Sendable {
  /// The description.
  public let description: ProtocolDescription
  private let plans: [FramingPlan?]
  /// The indices of the messages of each framing.
  private let candidates: [[Int]]
  /// For each framing, the index of the element that has the unit's number.
  private let unitElements: [Int?]
  /// The numbers by which accessories say that they don't know a value, by the names of values that have bounds.
  private let fillers: [String: Set<Double>]

  /// A decoder for the frames of `codec`.
  public init(_ codec: DescribedCodec) {
    let description = codec.description
    self.description = description
    plans = codec.kinds.map { if case .layout(let plan) = $0 { plan } else { nil } }
    unitElements = codec.kinds.indices.map { description.unitElement(of: $0) }
    fillers = description.fillers
    candidates = codec.kinds.indices.map { framing in
      description.messages.indices.filter { description.messages[$0].hasFraming(framing) }
    }
  }

  /// The number of a frame's element, by its index in the layout; nil where the element has no number.
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

  /// All numbers of a frame's elements but lengths, by the elements' names.
  package func numbers(_ header: DescribedHeader, _ content: RawSpan) -> [(name: String, number: Int)] {
    guard plans.indices.contains(header.framing), let plan = plans[header.framing] else { return [] }
    return plan.elements.enumerated().compactMap { place, element in
      guard case .number = element.kind, let number = number(place, header, content) else { return nil }
      return (element.name, number)
    }
  }

  /// The unit that a frame comes from; nil where its protocol has no units. The number may be outside of the protocol's
  /// range, as in an echo of a request. Allocates nothing.
  public func unit(_ header: DescribedHeader, _ content: RawSpan) -> Int? {
    guard let units = description.units, unitElements.indices.contains(header.framing),
      let element = unitElements[header.framing]
    else { return nil }
    return number(element, header, content).map { $0 &- units.receivedOffset }
  }

  /// The index of the message that a frame is; nil if the description has none for it. If several messages fit the
  /// frame, it is `expected` if that is among them, since the sender of a request knows what answers it; otherwise it
  /// is the first. Allocates nothing.
  public func message(_ header: DescribedHeader, _ content: RawSpan, expected: Int? = nil) -> Int? {
    guard candidates.indices.contains(header.framing) else { return nil }
    if let expected, fits(expected, header, content) { return expected }
    for message in candidates[header.framing] where fits(message, header, content) { return message }
    return nil
  }

  /// Whether a frame can be this message: it has the message's framing, its unit is possible, its elements fulfil the
  /// message's conditions, and its text fits the message's pattern. With `part`, the frame must have these registers in
  /// place of all of the message. Allocates nothing without it.
  public func fits(
    _ message: Int, _ header: DescribedHeader, _ content: RawSpan, part: ProtocolDescription.RegisterBlock? = nil
  ) -> Bool {
    let described = description.messages[message]
    guard described.hasFraming(header.framing) else { return false }
    if let units = description.units, let unit = unit(header, content), !units.range.contains(unit) { return false }
    if case .pattern(let pattern) = described.body, header.body.upperBound <= content.byteCount,
      !pattern.fits(content.extracting(header.body))
    {
      return false
    }
    for condition in part.map(ProtocolDescription.conditions) ?? described.conditions {
      guard let number = number(condition.element, header, content),
        condition.values.contains(number) != condition.isNegated
      else { return false }
    }
    return true
  }

  /// Reads the values of a message. `known` are raw numbers of fields that were read before from other messages. With
  /// `part`, the frame has these registers in place of all of the message.
  public func decode(
    _ message: Int, _ header: DescribedHeader, _ content: RawSpan, known: [String: Int] = [:],
    part: ProtocolDescription.RegisterBlock? = nil
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
    case .registers(let block): decoding.readBlock(part ?? block, of: body)
    }
    decoding.settleFormulas()
    decoding.result.unit = unit(header, content)
    decoding.result.keepPlausible(description.plausible, fillers: fillers)
    return decoding.result
  }
}
