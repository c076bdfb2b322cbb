// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The replies of a genuine HM-10 whose length is known. Silence ends all others.
///
/// `OK+Set:` isn't among them: it may be followed by a name, and any beginning of the name would match.
enum HM10Patterns {
  static let all = fixed.map { ReplyPattern($0) } + measured + advertisements

  private static let fixed = [
    "OK", "OK\r\n", "OK+LOST", "OK+CONN", "OK+CONNA", "OK+CONNE", "OK+CONNF", "OK+CONNL", "OK+CONNN", "OK+START",
    "OK+CLEAR", "OK+SLEEP", "OK+WAKE", "OK+RENEW", "OK+RESET", "OK+DISCS", "OK+DISIS", "OK+DISAS", "OK+DISCE",
  ]

  private static let measured = [
    ReplyPattern("OK+CONN", .range(digit(0)...digit(5))), ReplyPattern("OK+CONN:", .hexDigit, count: 12),
    ReplyPattern("OK+ADDR:", .hexDigit, count: 12), ReplyPattern("OK+RADD:", .hexDigit, count: 12),
    ReplyPattern("OK+BATT:", .digit, count: 3), ReplyPattern("OK+RSSI:-", .digit, count: 3),
    ReplyPattern("OK+Get:", .digit), ReplyPattern("OK+Get:", .digit, count: 3),
    ReplyPattern("OK+Get:", .digit, count: 6), ReplyPattern("OK+Get:0x", .hexDigit, count: 4),
    ReplyPattern("OK+NAME:", terminator: WireText.lineEnd),
    ReplyPattern("OK+DIS0:", .hexDigit, count: 12), ReplyPattern("OK+DIS1:", .hexDigit, count: 12),
    ReplyPattern("OK+DIS2:", .hexDigit, count: 12), ReplyPattern("OK+DISC:", .hexDigit, count: 12), beacon,
  ]

  /// The reply for an iBeacon, 78 bytes: `OK+DISC:` and five fields with colons between them.
  private static let beacon: ReplyPattern = {
    var elements = ReplyPattern("OK+DISC:").elements
    for count in [8, 32, 10, 12] {
      elements += Array(repeating: .hexDigit, count: count)
      elements.append(.byte(UInt8(ascii: ":")))
    }
    elements += [.any, .digit, .digit, .digit]
    return ReplyPattern(elements: elements)
  }()

  /// One pattern for each length of an advertisement. Its data may contain line ends, so only the length says where it
  /// ends.
  ///
  /// `OK+DISC:` and an address is a reply by itself. Behind it the type of an advertisement must be one that exists,
  /// which is less than any byte that begins another reply.
  private static let advertisements: [ReplyPattern] = {
    var patterns: [ReplyPattern] = []
    for name in ["OK+DISA:", "OK+DISC:"] {
      let head = ReplyPattern(name, .hexDigit, count: 12).elements
      for count in 0...UInt8(HM10Advertisement.mostData) {
        var elements = head
        elements += [.range(0...4), .any, .byte(count)]
        elements += Array(repeating: .any, count: Int(count))
        for byte in WireText.lineEnd { elements.append(.byte(byte)) }
        patterns.append(ReplyPattern(elements: elements))
      }
    }
    return patterns
  }()

  private static func digit(_ number: UInt8) -> UInt8 { UInt8(ascii: "0") + number }
}
