// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads layouts: frames that are a sequence of elements.
extension DescriptionReader {
  static let elementLimit = 32
  /// Names that determine the kind of an element.
  static let reserved = ["start", "end", "constant", "length", "data", "check"]

  /// An element before its references to other elements are resolved.
  struct DraftElement {
    var name: String
    var mark: YAMLMark
    /// Nil when the element is only a name: `- data`.
    var value: YAMLNode?
  }

  /// Reads a layout. `digits` says how it is encoded in hexadecimal digits, if it is.
  mutating func layout(
    _ node: YAMLNode, _ digits: ProtocolDescription.Hexadecimal?, limit: Int
  ) -> ProtocolDescription.Form? {
    guard let nodes = list(node, "the elements of a layout", limit: Self.elementLimit) else { return nil }
    let before = problems.count
    let drafts = nodes.map { draft($0) }
    guard !drafts.contains(where: { $0 == nil }) else { return nil }
    let places = drafts.compactMap { $0 }
    var areUnique = true
    for (place, draft) in places.enumerated() where !["constant", "check"].contains(draft.name) {
      if let first = places[..<place].first(where: { $0.name == draft.name }) {
        report(draft.mark, "the element \(draft.name) is already defined in line \(first.mark.line)")
        areUnique = false
      }
    }
    guard areUnique else { return nil }
    let elements = places.indices.map { element(places[$0], at: $0, among: places, isHexadecimal: digits != nil) }
    guard !elements.contains(where: { $0 == nil }) else { return nil }
    let whole = elements.compactMap { $0 }
    // An error in an element may be the cause of further errors in the layout, so these aren't reported.
    guard problems.count == before else { return nil }
    guard isKnowable(whole, places, node.mark), isEndInPlace(whole, places, digits),
      fits(whole, node.mark, digits, limit: limit)
    else { return nil }
    guard let digits else { return .layout(whole) }
    checkDigits(whole, places, node.mark, digits)
    return .hexadecimal(whole, digits)
  }

  private mutating func draft(_ node: YAMLNode) -> DraftElement? {
    switch node.content {
    case .scalar("data"): return DraftElement(name: "data", mark: node.mark)
    case .mapping(let entries) where entries.count == 1:
      let entry = entries[0]
      let draft = DraftElement(name: entry.key, mark: entry.mark, value: entry.value)
      if Self.reserved.contains(entry.key) { return draft }
      guard isPlainName(entry, "an element's name"), !entry.key.contains(".") else {
        if entry.key.contains(".") { report(entry.mark, "an element's name can't have a point") }
        return nil
      }
      return draft
    default:
      report(
        node.mark,
        "an element must be data, or a name and its form, like start: DD, register: u8, length: {type: u8, of: data}, "
          + "not \(kind(node))")
      return nil
    }
  }

  private mutating func element(
    _ draft: DraftElement, at place: Int, among all: [DraftElement], isHexadecimal: Bool
  ) -> ProtocolDescription.Element? {
    let made = { (kind: ProtocolDescription.Element.Kind) in ProtocolDescription.Element(draft.name, kind) }
    guard let node = draft.value else { return made(.body(nil)) }
    switch draft.name {
    case "start", "end", "constant":
      if draft.name == "start", place != 0 {
        report(draft.mark, "start must be the first element (use constant elsewhere)")
      }
      if draft.name == "end", all[(place + 1)...].contains(where: { ["data", "length", "start"].contains($0.name) }) {
        report(draft.mark, "end must stand behind data: only a check, a constant or a number can follow it")
      }
      return bytes(node, draft.name, limit: 64).map { made(.constant($0)) }
    case "data":
      if node.content == .scalar("") { return made(.body(nil)) }
      return integer(node, "data's count of bytes", 1...ProtocolDescription.Limit.frame).map { made(.body($0)) }
    case "length": return length(node, among: all).map(made)
    case "check":
      return check(node, at: place, among: all, isHexadecimal: isHexadecimal).map { made(.check($0)) }
    default:
      guard let format = number(node, "the element \(draft.name)") else { return nil }
      guard format.encoding != .float else {
        report(node.mark, "an element must be a whole number, not one with a fraction")
        return nil
      }
      return made(.number(format))
    }
  }

  private mutating func length(
    _ node: YAMLNode, among all: [DraftElement]
  ) -> ProtocolDescription.Element.Kind? {
    guard let fields = keys(node, DescriptionKeys.length), let type = fields["type"], let of = fields["of"] else {
      return nil
    }
    let format = number(type, "length")
    let range = elements(of, "of", among: all)
    let (adjust, nibbleCheck) = (number(fields, "adjust") ?? 0, flag(fields, "nibble_check") ?? false)
    guard let format, let range else { return nil }
    guard format.encoding == .unsigned, format.byteCount <= 4 else {
      report(type.mark, "a length must be u8, u16, u24 or u32, not \(kind(type))")
      return nil
    }
    if nibbleCheck, format.byteCount != 2, let node = fields["nibble_check"] {
      report(node.mark, "nibble_check is only for a length of two bytes (u16)")
    }
    guard range.contains(where: { all[$0].name == "data" }) else {
      report(of.mark, "of must include data")
      return nil
    }
    return .length(format, of: range, adjust: adjust, nibbleCheck: nibbleCheck)
  }

  /// Resolves element names to indices: "data", or a range as in "first..last".
  mutating func elements(_ node: YAMLNode, _ what: String, among all: [DraftElement]) -> ClosedRange<Int>? {
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "\(what) must name an element, or several as first..last, not \(kind(node))")
      return nil
    }
    let places = Self.ends(of: text).map { name -> Int? in
      let places = all.indices.filter { all[$0].name == name }
      if places.count > 1 {
        report(node.mark, "the element \(name) is there \(places.count) times, so it can't be named")
        return nil
      }
      return places.first ?? reference(name, node.mark, "an element of this layout", among: all.map(\.name))
    }
    guard let first = places[0], let last = places[places.count - 1] else { return nil }
    guard first <= last else {
      report(node.mark, "\(what) must name the first element and then the last, not \(kind(node))")
      return nil
    }
    return first...last
  }
}
