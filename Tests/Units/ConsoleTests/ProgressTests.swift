// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import Console

/// Rate, time left and the line that shows them, on a clock of the test's own.
@Suite struct ProgressTests {
  private func time(_ milliseconds: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  @Test func aSteadyPaceGivesTheTimeLeft() {
    var pace = TransferPace()
    #expect(pace.rate == nil && pace.timeLeft(of: 10) == nil)
    pace.note(0, at: time(0))
    #expect(pace.rate == nil)
    for step in 1...40 { pace.note(step * 1_000, at: time(step * 100)) }
    #expect(pace.rate == 10_000)
    #expect(pace.timeLeft(of: 100_000) == .seconds(6))
    #expect(pace.timeLeft(of: 40_000) == .zero)
    #expect(pace.timeLeft(of: 10) == nil)
  }

  @Test func onlyTheLastSecondsCount() {
    var pace = TransferPace()
    for step in 0...50 { pace.note(step * 100, at: time(step * 100)) }
    #expect(pace.rate == 1_000)
    for step in 1...60 { pace.note(5_000 + step * 1_000, at: time(5_000 + step * 100)) }
    #expect(pace.rate == 10_000)
  }

  @Test func anInterruptionBeginsAnew() {
    var pace = TransferPace()
    pace.note(0, at: time(0))
    pace.note(1_000, at: time(1_000))
    #expect(pace.rate == 1_000)
    pace.interrupt()
    #expect(pace.rate == nil)
    pace.note(1_000, at: time(60_000))
    pace.note(2_000, at: time(60_500))
    #expect(pace.rate == 2_000)
    // Back to the beginning.
    pace.note(0, at: time(61_000))
    #expect(pace.rate == nil)
    // Nothing for a while.
    pace.note(100, at: time(61_100))
    pace.note(200, at: time(90_000))
    #expect(pace.rate == nil)
  }

  @Test func aMillionNotesAreKeptInAFew() {
    var pace = TransferPace()
    for step in 0..<100_000 { pace.note(step, at: MonotonicTime(nanoseconds: Int64(step) * 10_000)) }
    #expect(abs((pace.rate ?? 0) - 100_000) < 1)
    #expect(MemoryLayout.size(ofValue: pace) < 100)
  }

  @Test func aProgressLineFitsTheTerminal() {
    func line(_ columns: Int) -> String {
      ProgressText.line(
        done: 5_700_000, total: 10_000_000, rate: 1_234_567, timeLeft: .milliseconds(3_500), columns: columns)
    }
    #expect(
      line(120) == String(repeating: "█", count: 17) + String(repeating: "░", count: 13)
        + "  57 %  5.7 of 10.0 MB  1.2 MB/s  4 s left")
    // Never as wide as the terminal, which would go on in the next line.
    for columns in 1...200 { #expect(line(columns).count < max(columns, 5), "\(columns)") }
    #expect(line(50).hasSuffix("57 %  5.7 of 10.0 MB  1.2 MB/s  4 s left"))
    #expect(line(40) == "57 %  5.7 of 10.0 MB  4 s left")
    #expect(line(30) == "57 %  5.7 of 10.0 MB")
    #expect(line(10) == "57 %")
    #expect(ProgressText.line(done: 0, total: 0, columns: 12) == "100 %")
  }

  @Test func percentBytesAndTimesAreWrittenShort() {
    #expect(ProgressText.percent(999, 1_000) == 99)
    #expect(ProgressText.percent(1_000, 1_000) == 100)
    #expect(ProgressText.percent(-1, 1_000) == 0)
    #expect(ProgressText.percent(.max, 1) == 100)
    #expect(ProgressText.percent(.max, .max) == 100)
    #expect(ProgressText.bytes(0) == "0 B")
    #expect(ProgressText.bytes(999) == "999 B")
    #expect(ProgressText.bytes(1_000) == "1.0 kB")
    #expect(ProgressText.bytes(999_999) == "999.9 kB")
    #expect(ProgressText.bytes(12_345_678_901) == "12.3 GB")
    #expect(ProgressText.time(.zero) == "0 s")
    #expect(ProgressText.time(.milliseconds(1)) == "1 s")
    #expect(ProgressText.time(.seconds(60)) == "1 min 00 s")
    #expect(ProgressText.time(.seconds(3_725)) == "1 h 02 min")
  }
}
