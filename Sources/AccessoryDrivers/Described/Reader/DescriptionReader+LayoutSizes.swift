// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Whether a frame's end can be found, and whether it is short enough.
extension DescriptionReader {
  /// Whether there is exactly one body, and the frame's length can be known.
  mutating func isKnowable(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ mark: YAMLMark
  ) -> Bool {
    let bodies = elements.indices.filter { if case .body = elements[$0].kind { true } else { false } }
    guard bodies.count == 1, let body = bodies.first, case .body(let count) = elements[body].kind else {
      // That it isn't there twice has been seen to.
      report(mark, "data is missing among the elements: what the frame carries (data: 8 where it always has 8 bytes)")
      return false
    }
    let length = elements.firstIndex { if case .length = $0.kind { true } else { false } }
    if let length {
      guard length < body else {
        report(drafts[length].mark, "length stands in front of data")
        return false
      }
      guard count == nil else {
        report(drafts[body].mark, "data has either a fixed size or a length in front of it, not both")
        return false
      }
    }
    let hasEnd = elements.last?.name == "end"
    let isCounted = length != nil || count != nil
    guard isCounted || hasEnd else {
      report(
        mark,
        "how long a frame is can't be known: it needs a length, an end up to which is read, or data of a fixed size "
          + "(data: 8)")
      return false
    }
    let checks = elements.indices.filter { if case .check = elements[$0].kind { true } else { false } }
    guard !isCounted || elements[0].name == "start" || !checks.isEmpty else {
      report(mark, "nothing tells where such a frame begins: it needs a start or a check")
      return false
    }
    return varyingIsLast(elements, drafts, checks, body: body, isCounted: isCounted)
  }

  /// A check that isn't always there, or has a varying count of digits, is found from the end.
  private mutating func varyingIsLast(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ checks: [Int], body: Int, isCounted: Bool
  ) -> Bool {
    let hasEnd = elements.last?.name == "end"
    let last = hasEnd ? elements.count - 2 : elements.count - 1
    var varying: Set<Int> = []
    for place in checks {
      guard case .check(let check) = elements[place].kind else { continue }
      if check.notation == .decimal {
        guard place == last, hasEnd, !isCounted else {
          report(
            drafts[place].mark,
            "a check in decimal is the last element in front of end, in frames that are read up to there")
          return false
        }
        varying.insert(place)
      }
      if !check.isPresentIfEmpty {
        guard place == last, place > body else {
          report(drafts[place].mark, "a check that may be missing (unless_empty) is the last element, but for end")
          return false
        }
        varying.insert(place)
      }
    }
    for place in checks {
      guard case .check(let check) = elements[place].kind, check.covers.contains(where: varying.contains) else {
        continue
      }
      report(drafts[place].mark, "a check isn't over one that may be missing, or has a varying count of digits")
      return false
    }
    return true
  }

  /// Whether a layout can be written in digits.
  mutating func areDigits(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ mark: YAMLMark,
    _ digits: ProtocolDescription.Hexadecimal
  ) {
    if elements.last?.name != "end" { report(mark, "a frame in digits needs an end, which is none") }
    for (place, element) in elements.enumerated() {
      guard case .check(let check) = element.kind else { continue }
      if check.covers.contains(where: { ["start", "end"].contains(elements[$0].name) }) {
        report(drafts[place].mark, "with digits: hex a check is over what is written in digits, not over start or end")
      }
    }
    if digits.beginsWithOneDigit, !beginsWithOneByte(elements) {
      report(mark, "with first_digit: single the first element behind start is a number of one byte (u8)")
    }
  }

  private func beginsWithOneByte(_ elements: [ProtocolDescription.Element]) -> Bool {
    guard case .number(let format) = elements.first(where: { $0.name != "start" })?.kind else { return false }
    return format.byteCount == 1
  }

  /// Whether the shortest frame, or the only one, is within the limit.
  mutating func fits(
    _ elements: [ProtocolDescription.Element], _ mark: YAMLMark, _ digits: ProtocolDescription.Hexadecimal?, limit: Int
  ) -> Bool {
    let sizes = elements.map { element in
      let size = Self.size(of: element)
      let isOutside = ["start", "end"].contains(element.name)
      return digits == nil || isOutside ? size : size * 2
    }
    let least = sizes.reduce(0, +)
    guard least <= limit else {
      report(mark, "the shortest frame has \(least) bytes, more than max, which is \(limit)")
      return false
    }
    return true
  }

  /// The bytes of an element, at least; of a check that may be missing those that it has when there is data.
  static func size(of element: ProtocolDescription.Element) -> Int {
    switch element.kind {
    case .constant(let bytes): bytes.count
    case .number(let format), .length(let format, _, _, _): format.byteCount
    case .body(let count): count ?? 0
    case .check(let check):
      switch check.notation {
      case .bytes: check.algorithm.byteCount
      case .hexadecimal: check.algorithm.byteCount * 2
      case .decimal: 1
      }
    }
  }
}
