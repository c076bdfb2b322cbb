// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A layout in the form that the codec works with: where every element is.
///
/// Offsets count from the first byte of the content. The content of a plain layout is the whole frame; the content of a
/// hexadecimal layout is the bytes for which the digits stand, without the constants at both ends.
///
/// `FramingPlan` and `Check` are classes because codecs use them for every frame: passing one reference is faster than
/// passing a dozen arrays.
final class FramingPlan: Sendable {
  /// How a frame's end is found.
  enum Extent: Sendable, Hashable {
    /// All frames have the same count of bytes.
    case fixed
    /// A length field in front of the body says it.
    case counted
    /// The frame ends at the first occurrence of `end`, and what stands behind it.
    case terminated
  }

  /// Where an element is in the content.
  struct Place: Sendable, Hashable {
    /// Counted from the content's start or, with `isBehind`, from the body's end.
    var offset: Int
    var byteCount: Int
    var isBehind: Bool
  }

  struct Length: Sendable {
    var offset: Int
    var format: ProtocolDescription.NumberFormat
    /// The body has as many bytes as the field's number plus this.
    var adjust: Int
    var hasNibbleCheck: Bool
    var countsDigits: Bool
  }

  final class Check: Sendable {
    let engine: CheckEngine
    let isPresentIfEmpty: Bool
    let isDecimal: Bool
    /// The first and the last element that the check covers; unused where that element is the body.
    let first: Place
    let last: Place
    let coversFromBody: Bool
    let coversToBody: Bool
    let place: Place
    /// Whether the check and all that it covers are in front of the body.
    let isInFront: Bool

    init(_ engine: CheckEngine, first: Place, last: Place, place: Place, at index: Int, body: Int) {
      (self.engine, self.first, self.last, self.place) = (engine, first, last, place)
      let check = engine.check
      (isPresentIfEmpty, isDecimal) = (check.isPresentIfEmpty, check.notation == .decimal)
      (coversFromBody, coversToBody) = (check.covers.lowerBound == body, check.covers.upperBound == body)
      isInFront = index < body && check.covers.upperBound < body
    }
  }

  let framing: ProtocolDescription.Framing
  /// Whether the framing ignores some bytes or texts in a body.
  let hasIgnored: Bool
  let elements: [ProtocolDescription.Element]
  let hexadecimal: ProtocolDescription.Hexadecimal?
  let start: [UInt8]
  let end: [UInt8]
  /// How many bytes stand behind `end`: a check, a line end. 0 where `end` is the last element.
  let tail: Int
  let extent: Extent
  let places: [Place]
  /// The index of the body among the elements.
  let body: Int
  /// Bytes of content in front of the body.
  let front: Int
  /// Bytes of content behind the body, without the decimal digits of a check. Includes `end` for plain layouts.
  let back: Int
  /// How many bytes are missing behind an empty body: a check that is only present behind a body that isn't empty.
  let missingIfEmpty: Int
  let fixedBody: Int
  let length: Length?
  let checks: [Check]
  let hasDecimalCheck: Bool
  let hasChecksInFront: Bool
  /// Constants that are not at the start. They are compared when the whole frame has arrived.
  let constants: [(place: Place, bytes: [UInt8])]
  let limit: Int

  /// Throws `FramingParameterError` if the framing's parameters don't fit together.
  init(_ framing: ProtocolDescription.Framing) throws(FramingParameterError) {
    let elements: [ProtocolDescription.Element]
    switch framing.form {
    case .layout(let list): (elements, hexadecimal) = (list, nil)
    case .hexadecimal(let list, let digits): (elements, hexadecimal) = (list, digits)
    case .window, .pairs: throw FramingParameterError("form", "must be a layout")
    }
    self.framing = framing
    hasIgnored = !framing.ignoredBytes.isEmpty || !framing.ignoredTexts.isEmpty
    self.elements = elements
    guard (4...ProtocolDescription.Limit.frame).contains(framing.limit) else {
      throw FramingParameterError("limit", "must be 4 to \(ProtocolDescription.Limit.frame)")
    }
    limit = framing.limit
    let bodies = elements.indices.filter { if case .body = elements[$0].kind { true } else { false } }
    guard bodies.count == 1, elements.count <= 64 else {
      throw FramingParameterError("layout", "must have one body and at most 64 elements")
    }
    body = bodies[0]
    start = Self.constant(elements.first)
    let mark = elements.lastIndex { $0.name == "end" } ?? elements.count - 1
    end = mark > 0 ? Self.constant(elements[mark]) : []
    let engines = elements.map { element in
      if case .check(let check) = element.kind { CheckEngine(check) } else { nil as CheckEngine? }
    }
    var places: [Place] = []
    var offset = 0
    for (index, element) in elements.enumerated() {
      if index == body { offset = 0 }
      var count = try Self.byteCount(element, engines[index])
      // In hexadecimal frames the constants at both ends are not part of the content.
      if hexadecimal != nil, index == 0 && !start.isEmpty || index == elements.count - 1 && !end.isEmpty { count = 0 }
      places.append(Place(offset: offset, byteCount: index == body ? 0 : count, isBehind: index > body))
      if index != body { offset += count }
    }
    self.places = places
    front = places[..<body].reduce(0) { $0 + $1.byteCount }
    back = places[body...].reduce(0) { $0 + $1.byteCount }
    tail = places[(mark + 1)...].reduce(0) { $0 + $1.byteCount }
    let conditional = elements.indices.filter { engines[$0]?.check.isPresentIfEmpty == false }
    missingIfEmpty = conditional.reduce(0) { $0 + places[$1].byteCount }
    let last = end.isEmpty || mark < elements.count - 1 ? elements.count - 1 : elements.count - 2
    guard conditional.allSatisfy({ $0 == last && $0 > bodies[0] }), conditional.count <= 1 else {
      throw FramingParameterError("unless_empty", "must be of the last element, or the last in front of end")
    }
    let decimals = elements.indices.filter { engines[$0]?.check.notation == .decimal }
    hasDecimalCheck = !decimals.isEmpty
    guard decimals.allSatisfy({ $0 == last && $0 > bodies[0] }), decimals.isEmpty || !end.isEmpty else {
      throw FramingParameterError("as: decimal", "must be of the last element in front of end")
    }
    guard
      mark == elements.count - 1 || mark > bodies[0] && hexadecimal == nil && conditional.isEmpty && decimals.isEmpty
    else {
      throw FramingParameterError("end", "can only stand in front of elements of fixed sizes, in a frame of bytes")
    }
    (length, fixedBody, extent) = try Self.extent(
      elements, places, body: bodies[0], end: end, hexadecimal: hexadecimal, hasDecimalCheck: !decimals.isEmpty)
    guard mark == elements.count - 1 || extent == .terminated else {
      throw FramingParameterError("end", "must be the last element of a frame whose length is known")
    }
    guard hexadecimal == nil || extent == .terminated || extent == .fixed || !end.isEmpty else {
      throw FramingParameterError("digits: hex", "must have an end or a fixed size")
    }
    guard front + back + fixedBody <= limit,
      !start.isEmpty || extent == .terminated || !engines.allSatisfy({ $0 == nil })
    else { throw FramingParameterError("layout", "must have a start or a check, and be no longer than max") }
    checks = try Self.checks(elements, engines, places, body: bodies[0], isHexadecimal: hexadecimal != nil)
    hasChecksInFront = checks.contains(where: \.isInFront)
    constants = elements.indices.compactMap { index in
      guard case .constant(let bytes) = elements[index].kind, index > 0, places[index].byteCount > 0 else { return nil }
      return (places[index], bytes)
    }
  }

  private static func constant(_ element: ProtocolDescription.Element?) -> [UInt8] {
    if case .constant(let bytes)? = element?.kind { bytes } else { [] }
  }

  private static func byteCount(
    _ element: ProtocolDescription.Element, _ engine: CheckEngine?
  ) throws(FramingParameterError) -> Int {
    switch element.kind {
    case .constant(let bytes):
      guard (1...64).contains(bytes.count) else { throw FramingParameterError(element.name, "must be 1 to 64 bytes") }
      return bytes.count
    case .number(let format), .length(let format, _, _, _):
      guard (1...8).contains(format.byteCount), format.encoding != .float else {
        throw FramingParameterError(element.name, "must be a whole number of 1 to 8 bytes")
      }
      return format.byteCount
    case .body: return 0
    case .check: return engine?.writtenByteCount ?? 0
    }
  }

  private static func extent(
    _ elements: [ProtocolDescription.Element], _ places: [Place], body: Int, end: [UInt8],
    hexadecimal: ProtocolDescription.Hexadecimal?, hasDecimalCheck: Bool
  ) throws(FramingParameterError) -> (Length?, Int, Extent) {
    var length: Length?
    for (index, element) in elements.enumerated() {
      guard case .length(let format, let range, let adjust, let hasNibbleCheck) = element.kind else { continue }
      guard index < body, length == nil, range.contains(body), range.lowerBound >= 0, range.upperBound < elements.count,
        (-ProtocolDescription.Limit.frame...ProtocolDescription.Limit.frame).contains(adjust),
        !hasNibbleCheck || format.byteCount == 2
      else { throw FramingParameterError("length", "must be in front of the body, and count it") }
      let others = range.reduce(0) { $0 + places[$1].byteCount }
      length = Length(
        offset: places[index].offset, format: format, adjust: adjust - others, hasNibbleCheck: hasNibbleCheck,
        countsDigits: hexadecimal?.lengthCountsDigits ?? false)
    }
    if case .body(let count?) = elements[body].kind {
      guard length == nil, (0...ProtocolDescription.Limit.frame).contains(count), !hasDecimalCheck else {
        throw FramingParameterError("data", "must have a length or a fixed size, not both")
      }
      return (nil, count, .fixed)
    }
    if let length, !hasDecimalCheck { return (length, 0, .counted) }
    guard !end.isEmpty, length == nil else {
      throw FramingParameterError("layout", "must have a length, a fixed size or an end")
    }
    return (nil, 0, .terminated)
  }

  private static func checks(
    _ elements: [ProtocolDescription.Element], _ engines: [CheckEngine?], _ places: [Place], body: Int,
    isHexadecimal: Bool
  ) throws(FramingParameterError) -> [Check] {
    var checks: [Check] = []
    for (index, engine) in engines.enumerated() {
      guard let engine else { continue }
      let covers = engine.check.covers
      guard covers.lowerBound >= 0, covers.upperBound < elements.count, !covers.contains(index),
        !isHexadecimal || covers.lowerBound > 0 || places[0].byteCount > 0,
        engine.check.notation != .decimal || engine.check.algorithm.byteCount == 1,
        !covers.contains(where: {
          engines[$0]?.check.isPresentIfEmpty == false || engines[$0]?.check.notation == .decimal
        })
      else { throw FramingParameterError("check", "must cover elements of its frame, and not itself") }
      checks.append(
        Check(
          engine, first: places[covers.lowerBound], last: places[covers.upperBound], place: places[index], at: index,
          body: body))
    }
    return checks
  }
}
