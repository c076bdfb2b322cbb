// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Testing

@testable import CommandOutput

/// What a person sees of a wait.
@Suite final class WaitingLineTests: Sendable {
  private let clock = ManualClock()
  private let drawn = Locked<[String]>([])

  private func line(columns: Int? = 80) -> WaitingLine {
    WaitingLine(clock: clock, columns: { columns }) { text in self.drawn.withLock { $0.append(text) } }
  }

  private static func row(_ text: String) -> String { "\r\(text)\u{1B}[K" }

  @Test func aShortWaitIsNotShown() {
    let line = line()
    let wait = line.begin("waiting")
    clock.advance(by: .milliseconds(200))
    line.end(wait)
    clock.advance(by: .seconds(5))
    #expect(drawn.withLock { $0 } == [])
  }

  @Test func theWaitingLineCountsDown() {
    let line = line()
    let wait = line.begin("waiting for X", limit: .seconds(3))
    for _ in 0..<25 { clock.advance(by: .milliseconds(100)) }
    line.end(wait)
    #expect(
      drawn.withLock { $0 } == [
        Self.row("waiting for X, 3 s left"), Self.row("waiting for X, 2 s left"), Self.row("waiting for X, 1 s left"),
        Self.row(""),
      ])
  }

  @Test func noWaitIsShownWhereNobodyLooks() {
    let line = line(columns: nil)
    let wait = line.begin("waiting")
    clock.advance(by: .seconds(5))
    line.end(wait)
    #expect(drawn.withLock { $0 } == [])
  }

  /// What is written meanwhile is on lines of its own, and one that isn't finished is not written over.
  @Test func theWaitingLineLeavesUnfinishedLinesAlone() {
    let line = line()
    let wait = line.begin("waiting for X")
    clock.advance(by: .seconds(1))
    let shown = [Self.row("waiting for X, for 1 s")]
    #expect(drawn.withLock { $0 }.suffix(1) == shown[...])
    line.willWrite()
    #expect(drawn.withLock { $0 }.last == Self.row(""))
    let count = drawn.withLock { $0.count }
    clock.advance(by: .seconds(1))
    line.didWrite(UInt8(ascii: "a"))
    clock.advance(by: .seconds(1))
    #expect(drawn.withLock { $0.count } == count)
    line.willWrite()
    line.didWrite(UInt8(ascii: "\n"))
    clock.advance(by: .seconds(1))
    #expect(drawn.withLock { $0 }.last == Self.row("waiting for X, for 4 s"))
    line.end(wait)
  }

  /// The one that began last is shown.
  @Test func aWaitWithinAWait() {
    let line = line()
    let outer = line.begin("outer")
    let inner = line.begin("inner")
    clock.advance(by: .seconds(1))
    #expect(drawn.withLock { $0 }.last == Self.row("inner, for 1 s"))
    line.end(inner)
    clock.advance(by: .seconds(1))
    #expect(drawn.withLock { $0 }.last == Self.row("outer, for 2 s"))
    line.end(outer)
    #expect(drawn.withLock { $0 }.last == Self.row(""))
  }

  @Test(arguments: [
    (40, "waiting for X to come back, for 2 s"), (20, "waiting fo…, for 2 s"), (11, "w…, for 2 s"),
    (10, ", for 2 s"), (5, ", for"), (0, ""),
  ]) func theWaitingLineFitsItsColumns(columns: Int, text: String) {
    #expect(WaitingLine.text("waiting for X to come back", passed: .seconds(2), limit: nil, columns: columns) == text)
  }

  /// A device's name can't do anything to the terminal.
  @Test func hostileNamesInTheWaitingLineAreHarmless() {
    let line = line()
    let wait = line.begin("waiting for \u{1B}[2J\u{7}")
    clock.advance(by: .seconds(1))
    let text = drawn.withLock { $0.last } ?? ""
    #expect(text.hasPrefix("\rwaiting for ") && text.hasSuffix(", for 1 s\u{1B}[K"))
    #expect(text.dropLast(3).unicodeScalars.dropFirst().allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    line.end(wait)
  }
}
