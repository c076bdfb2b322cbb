// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Testing

@testable import CommandOutput

/// How far a transfer is, on a clock of the test's own.
@Suite struct ProgressBarTests {
  private let clock = ManualClock()
  private let written = Watched<[String]>([])
  private let columns = Watched(80)

  private func bar(_ form: ProgressBar.Form) -> ProgressBar {
    ProgressBar(
      form, clock: clock, columns: { [columns] in columns.value },
      write: { [written] text in written.update { $0.append(text) } }, wallClock: { 1_795_337_583.125 })
  }

  private func document(_ done: Int, _ percent: Int, rate: String, left: String) -> String {
    joined(
      #"{"document":"progress","event":"progress","progress":{"bytes_per_second":\#(rate),"done_bytes":\#(done),"percent":\#(percent),"seconds_left":\#(left),"#,
      #""size_bytes":1000},"schema":"accessory-bridge/2","time":1795337583.125}"#)
  }

  /// One at each whole percent, however often it is told.
  @Test func progressIsOneDocumentForEachPercent() {
    let bar = bar(.documents)
    for done in [0, 0, 1, 9] { bar.show(done, 1_000) }
    #expect(written.value == [document(0, 0, rate: "null", left: "null")])
    clock.advance(by: .seconds(1))
    for done in [500, 509] { bar.show(done, 1_000) }
    clock.advance(by: .seconds(1))
    bar.show(1_000, 1_000)
    #expect(
      written.value.dropFirst() == [
        document(500, 50, rate: "500", left: "1"), document(1_000, 100, rate: "500", left: "0"),
      ])
    // Nothing to make place for.
    bar.clear()
    #expect(written.value.count == 3)
  }

  /// Drawn ten times a second at most, but at once when all is done.
  @Test func theBarIsDrawnOnlyTenTimesASecond() {
    let bar = bar(.bar)
    bar.show(0, 1_000)
    for _ in 0..<9 {
      clock.advance(by: .milliseconds(10))
      bar.show(100, 1_000)
    }
    #expect(written.value.count == 1)
    clock.advance(by: .milliseconds(10))
    bar.show(200, 1_000)
    bar.show(1_000, 1_000)
    bar.show(1_000, 1_000)
    #expect(written.value.count == 3)
    #expect(
      written.value[0] == "\r" + String(repeating: "░", count: 30) + "  0 %  0.0 of 1.0 kB\u{1B}[K")
    #expect(written.value[2].hasPrefix("\r" + String(repeating: "█", count: 30) + "  100 %  1.0 of 1.0 kB"))
  }

  /// The terminal is asked each time, as it may change its size.
  @Test func theBarFitsATerminalThatChangesItsSize() {
    let bar = bar(.bar)
    for width in [12, 29, 36] {
      columns.update { $0 = width }
      bar.show(500, 1_000)
      clock.advance(by: .seconds(60))
    }
    #expect(
      written.value == [
        "\r50 %\u{1B}[K", "\r50 %  0.5 of 1.0 kB\u{1B}[K", "\r███████░░░░░░░  50 %  0.5 of 1.0 kB\u{1B}[K",
      ])
  }

  @Test func aClearedBarIsDrawnAgainAtOnce() {
    let bar = bar(.bar)
    bar.clear()
    #expect(written.value == [])
    bar.show(500, 1_000)
    bar.clear()
    bar.clear()
    #expect(written.value.dropFirst() == ["\r\u{1B}[K"])
    // And what comes behind is drawn at once.
    bar.show(500, 1_000)
    #expect(written.value.count == 3)
  }

  @Test func noProgressIsWrittenWhereNobodyLooks() {
    let bar = bar(.nothing)
    for done in 0...1_000 { bar.show(done, 1_000) }
    bar.clear()
    #expect(written.value == [])
  }
}
