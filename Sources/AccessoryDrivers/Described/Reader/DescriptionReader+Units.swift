// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Which of several accessories on one line a frame is for.
extension DescriptionReader {
  /// Read behind the framings, whose elements it names.
  mutating func units(_ node: YAMLNode) {
    guard let fields = fields(node, "units", DescriptionKeys.units) else { return }
    guard let element = fields["element"] else {
      report(node.mark, "element is missing: which number of the frames says which unit is meant")
      return
    }
    guard case .scalar(let name) = element.content else {
      report(element.mark, "element is an element's name, not \(kind(element))")
      return
    }
    // One in which something is wrong is told by itself.
    let places = description.framings.indices.map { numberElement(name, element.mark, of: $0) }
    let bounds = 0...Self.largestUnit
    let from = fields["from"].flatMap { integer($0, "from", bounds) } ?? 1
    guard let last = fields["to"] else {
      report(node.mark, "to is missing: the last unit that there may be")
      return
    }
    guard let to = integer(last, "to", bounds) else { return }
    guard from <= to else {
      report(last.mark, "to is less than from, which is \(from)")
      return
    }
    guard to - from < ProtocolDescription.Limit.units else {
      report(last.mark, "there are at most \(ProtocolDescription.Limit.units) units, not \(to - from + 1)")
      return
    }
    var units = ProtocolDescription.Units(name, from...to)
    set(&units.standard, fields["default"].flatMap { integer($0, "default", from...to) })
    set(&units.sent, fields["sent"].flatMap { integer($0, "sent", -Self.largestUnit...Self.largestUnit) })
    set(&units.received, fields["received"].flatMap { integer($0, "received", -Self.largestUnit...Self.largestUnit) })
    if let node = fields["scan"] { set(&units.scan, scan(node, from...to)) }
    for (framing, place) in places.enumerated() {
      guard let place else { continue }
      let range = range(ofElement: place, of: framing)
      let sums = [("sent", units.sent)] + (units.received == units.sent ? [] : [("received", units.received)])
      for (key, added) in sums
      where !range.contains(from + added) || !range.contains(to + added) {
        report(
          fields[key]?.mark ?? last.mark,
          "\(name) is \(range.lowerBound) to \(range.upperBound), and the units are \(from + added) to \(to + added) there"
        )
      }
    }
    description.units = units
  }

  private static let largestUnit = 65_535

  mutating func scan(_ node: YAMLNode, _ range: ClosedRange<Int>) -> ClosedRange<Int>? {
    if case .scalar(let text) = node.content, let scan = Self.range(text), range.contains(scan.lowerBound),
      range.contains(scan.upperBound)
    {
      return scan
    }
    report(
      node.mark,
      "scan is units from \(range.lowerBound) to \(range.upperBound), as FIRST..LAST, not \(kind(node))")
    return nil
  }

  /// Says that an element has the unit's number, if it has; then nobody else says anything of it.
  mutating func isUnit(_ element: String, _ mark: YAMLMark, _ what: String) -> Bool {
    guard element == description.units?.element else { return false }
    report(mark, "\(what): \(element) is the unit's number, which is set and compared by itself: leave it away")
    return true
  }
}
