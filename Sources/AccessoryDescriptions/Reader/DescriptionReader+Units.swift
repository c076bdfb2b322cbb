// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads the units of a protocol: several accessories on one line, each with a number.
extension DescriptionReader {
  /// Reads the units. Called after the framings, because it refers to their elements.
  mutating func units(_ node: YAMLNode) {
    guard let fields = keys(node, DescriptionKeys.units), let element = fields["element"] else { return }
    guard case .scalar(let name) = element.content else {
      report(element.mark, "element must be an element's name, not \(kind(element))")
      return
    }
    // An unknown element is reported by `numberElement`.
    let places = description.framings.indices.map { numberElement(name, element.mark, of: $0) }
    let from = number(fields, "from") ?? 1
    guard let last = fields["to"], let to: Int = number(fields, "to") else { return }
    guard from <= to else {
      report(last.mark, "to is less than from, which is \(from)")
      return
    }
    guard to - from < ProtocolDescription.Limit.units else {
      report(last.mark, "there are at most \(ProtocolDescription.Limit.units) units, not \(to - from + 1)")
      return
    }
    var units = ProtocolDescription.Units(name, from...to)
    set(&units.defaultUnit, fields["default"].flatMap { integer($0, "default", from...to) })
    set(&units.sentOffset, number(fields, "request_adds"))
    set(&units.receivedOffset, number(fields, "reply_adds"))
    if let node = fields["scan"] { set(&units.scan, scan(node, from...to)) }
    for (framing, place) in places.enumerated() {
      guard let place else { continue }
      let range = range(ofElement: place, of: framing)
      let sums =
        [("request_adds", units.sentOffset)]
        + (units.receivedOffset == units.sentOffset ? [] : [("reply_adds", units.receivedOffset)])
      for (key, added) in sums
      where !range.contains(from + added) || !range.contains(to + added) {
        report(
          fields[key]?.mark ?? last.mark,
          "\(name) can hold \(range.lowerBound) to \(range.upperBound), and the units are sent as \(from + added) to "
            + "\(to + added)"
        )
      }
    }
    description.units = units
  }

  static let largestUnit = 65_535

  mutating func scan(_ node: YAMLNode, _ range: ClosedRange<Int>) -> ClosedRange<Int>? {
    if case .scalar(let text) = node.content, let scan = Self.range(text), range.contains(scan.lowerBound),
      range.contains(scan.upperBound)
    {
      return scan
    }
    report(
      node.mark,
      "scan must be units from \(range.lowerBound) to \(range.upperBound), as FIRST..LAST, not \(kind(node))")
    return nil
  }

  /// Whether the element holds the unit's number. If so, reports it: it is set and compared automatically.
  mutating func isUnit(_ element: String, _ mark: YAMLMark, _ what: String) -> Bool {
    guard element == description.units?.element else { return false }
    report(mark, "\(what): \(element) is the unit's number, which is set and compared automatically: leave it out")
    return true
  }
}
