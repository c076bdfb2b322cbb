// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// From where on the owner of a UPS wants its battery to count as low.
struct LowLimitTests {
  @Test(
    arguments: [
      ("15 %", 15, nil), ("15%", 15, nil), ("5 min", nil, 300), ("5min", nil, 300), ("90s", nil, 90),
      ("1h", nil, 3_600),
      ("30 %, 5 min", 30, 300), ("5min,30%", 30, 300), ("1.5 min", nil, 90),
    ] as [(String, Int?, Int?)])
  func aChargeATimeOrBoth(_ text: String, _ percent: Int?, _ seconds: Int?) throws {
    let limit = try #require(LowLimit(text))
    #expect(limit == LowLimit(percent: percent, seconds: seconds))
    #expect(LowLimit(limit.description) == limit)
  }

  @Test(arguments: [
    "", " ", "15", "%", "min", "0 %", "100 %", "-5 %", "15.5 %", "0 s", "1.5 s", "500ms", "20 h", "15 %, 20 %",
    "5 min, 6 min", "15 %,",
    ", 5 min", "15 V", "99999999999999999999 %", "٣ %",
  ])
  func everythingElseIsNone(_ text: String) { #expect(LowLimit(text) == nil) }
}
