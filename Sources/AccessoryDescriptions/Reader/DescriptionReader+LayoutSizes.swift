// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Checks that the end of a frame can be found, and that the frame fits the limit.
extension DescriptionReader {
  /// Checks that a layout has exactly one body, and that the length and the beginning of a frame can be determined.
  mutating func isKnowable(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ mark: YAMLMark
  ) -> Bool {
    let bodies = elements.indices.filter { if case .body = elements[$0].kind { true } else { false } }
    guard bodies.count == 1, let body = bodies.first, case .body(let count) = elements[body].kind else {
      // A duplicate body was reported earlier.
      report(mark, "data is missing among the elements: the payload of the frame (data: 8 if it always has 8 bytes)")
      return false
    }
    let length = elements.firstIndex { if case .length = $0.kind { true } else { false } }
    if let length {
      guard length < body else {
        report(drafts[length].mark, "length must stand before data")
        return false
      }
      guard count == nil else {
        report(drafts[body].mark, "data can have a fixed size or a length before it, not both")
        return false
      }
    }
    let hasEnd = elements.contains { $0.name == "end" }
    let isCounted = length != nil || count != nil
    guard isCounted || hasEnd else {
      report(
        mark,
        "the length of a frame can't be known: it needs a length, an end, or data of a fixed size "
          + "(data: 8)")
      return false
    }
    let checks = elements.indices.filter { if case .check = elements[$0].kind { true } else { false } }
    guard !isCounted || elements[0].name == "start" || !checks.isEmpty else {
      report(mark, "the beginning of such a frame can't be found: it needs a start or a check")
      return false
    }
    return varyingIsLast(elements, drafts, checks, body: body, isCounted: isCounted)
  }

  /// Checks that the elements after `end` have a fixed size, and that nothing else determines the end of the frame.
  mutating func isEndInPlace(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ digits: ProtocolDescription.Hexadecimal?
  ) -> Bool {
    guard let end = elements.firstIndex(where: { $0.name == "end" }), end < elements.count - 1 else { return true }
    let isCounted = elements.contains {
      switch $0.kind {
      case .length, .body(.some): true
      default: false
      }
    }
    let varies = elements[(end + 1)...].contains {
      if case .check(let check) = $0.kind { check.notation == .decimal || !check.isPresentIfEmpty } else { false }
    }
    guard !isCounted, !varies, digits == nil else {
      report(
        drafts[end].mark,
        "end can stand in front of other elements only if their sizes are fixed, without digits: hex, and where neither a length nor "
          + "the size of data says how long a frame is")
      return false
    }
    return true
  }

  /// Checks that an optional checksum, or one in decimal digits, is the last element: it is located from the frame's end.
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
            "a check in decimal must be the last element before end, in frames that are read up to end")
          return false
        }
        varying.insert(place)
      }
      if !check.isPresentIfEmpty {
        guard place == last, place > body else {
          report(
            drafts[place].mark, "a check that may be missing (unless_empty) must be the last element, except for end")
          return false
        }
        varying.insert(place)
      }
    }
    for place in checks {
      guard case .check(let check) = elements[place].kind, check.covers.contains(where: varying.contains) else {
        continue
      }
      report(
        drafts[place].mark, "a check can't cover a check that may be missing, or that has a varying number of digits")
      return false
    }
    return true
  }

  /// Checks that a layout can be encoded in hexadecimal digits.
  mutating func checkDigits(
    _ elements: [ProtocolDescription.Element], _ drafts: [DraftElement], _ mark: YAMLMark,
    _ digits: ProtocolDescription.Hexadecimal
  ) {
    let isFixed = elements.contains { if case .body(.some) = $0.kind { true } else { false } }
    if elements.last?.name != "end", !isFixed {
      report(mark, "with digits: hex a frame needs an end, or data of a fixed size")
    }
    for (place, element) in elements.enumerated() {
      guard case .check(let check) = element.kind else { continue }
      if check.covers.contains(where: { ["start", "end"].contains(elements[$0].name) }) {
        report(
          drafts[place].mark, "with digits: hex a check covers elements that are written in digits, not start or end")
      }
    }
    if digits.beginsWithOneDigit, !beginsWithOneByte(elements) {
      report(mark, "with first_digit: single the first element after start must be a number of one byte (u8)")
    }
  }

  private func beginsWithOneByte(_ elements: [ProtocolDescription.Element]) -> Bool {
    guard case .number(let format) = elements.first(where: { $0.name != "start" })?.kind else { return false }
    return format.byteCount == 1
  }

  /// Checks that the shortest frame isn't longer than the limit.
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
      report(mark, "the shortest frame has \(Amount.bytes(least)), more than max, which is \(limit)")
      return false
    }
    return true
  }

  /// The smallest size of an element in bytes. An optional checksum counts as present.
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
