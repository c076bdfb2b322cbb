// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import Console

/// Every number has a text: also those that only a broken or hostile accessory or service has.
@Suite struct NumberTests {
  @Test(arguments: [
    (0, "0.000"), (3_712, "3.712"), (-250, "-0.250"), (Int.max, "9223372036854775.807"),
    (Int.min, "-9223372036854775.808"),
  ])
  func thousandthsAreWrittenWithThreeDecimals(count: Int, text: String) {
    #expect(DecimalText.thousandths(count) == text)
  }

  @Test(arguments: [(12_345, "12.3"), (0, "0.0"), (-150, "-0.1"), (Int.min, "-9223372036854775.8")])
  func tenthsOfSecondsAreWritten(milliseconds: Int, text: String) {
    #expect(DecimalText.tenths(ofSeconds: milliseconds) == text)
  }

  @Test(arguments: [
    (480.0, "480"), (1.5, "1.5"), (-1e300, "-1e+300"), (1e300, "1e+300"), (.infinity, "inf"), (.nan, "nan"),
  ])
  func numbersAreWrittenInTheirShortForm(number: Double, text: String) { #expect(DecimalText.short(number) == text) }

  @Test func aBarIsAsLongAsEver() {
    for percent in -1...255 { #expect(LevelBar.text(percent).count == 20) }
    #expect(LevelBar.text(0).allSatisfy { $0 == "░" } && LevelBar.text(200).allSatisfy { $0 == "█" })
    #expect(LevelBar.text(57).count { $0 == "█" } == 11)
  }

  /// From the least number there is to the largest, and back.
  @Test func anyNumbersMakeAProgressLine() {
    for (first, second) in [(Int.min, Int.max), (0, Int.max), (Int.max, Int.min), (Int.min, 0)] {
      var pace = TransferPace()
      pace.note(first, at: MonotonicTime(nanoseconds: 0))
      pace.note(second, at: MonotonicTime(nanoseconds: 1_000_000_000))
      for total in [Int.min, 0, Int.max] {
        let line = ProgressText.line(
          done: second, total: total, rate: pace.rate, timeLeft: pace.timeLeft(of: total), columns: 200)
        #expect(line.contains(" %"))
      }
    }
    for rate in [1e300, -1e300, .infinity, .nan] {
      #expect(ProgressText.line(done: 1, total: 2, rate: rate, columns: 200).contains("50 %"))
    }
  }
}
