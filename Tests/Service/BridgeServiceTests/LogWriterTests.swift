// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AccessoryIO

/// A log that never makes the service wait.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct LogWriterTests {
  /// A pipe, whose ends are closed with this value.
  private final class Pipe: Sendable {
    let reading: CInt
    let writing: CInt

    init() throws {
      var ends: [CInt] = [0, 0]
      try #require(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// Whole lines, at least up to one that `isLast`.
    func lines(until isLast: @escaping @Sendable (Substring) -> Bool) async throws -> [String] {
      try await blocking { [self] in
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !text.hasSuffix("\n") || !text.split(separator: "\n").contains(where: isLast) {
          let count = read(reading, &buffer, buffer.count)
          guard count > 0 else { throw Hang("the last line") }
          text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        return text.split(separator: "\n").map(String.init)
      }
    }
  }

  private func writer(_ pipe: Pipe) -> LogWriter { LogWriter(pipe.writing) { "\($0) dropped" } }

  @Test func linesComeInTheirOrder() async throws {
    let pipe = try Pipe()
    let writer = writer(pipe)
    for number in 0..<5_000 {
      writer.write("line \(number)")
      if number % 1_000 == 999 { writer.finish(within: .seconds(20)) }
      if number == 999 { #expect(try await pipe.lines { $0 == "line 999" } == (0...999).map { "line \($0)" }) }
      if number % 1_000 == 999, number > 999 { _ = try await pipe.lines { $0 == "line \(number)" } }
    }
    #expect(writer.waitingCount == 0)
  }

  /// Nobody reads: saying goes on at once, what is kept is bounded, and what was dropped is told when somebody reads.
  @Test func droppedLinesOfAnUnreadLogAreTold() async throws {
    let pipe = try Pipe()
    let writer = writer(pipe)
    let total = 100_000
    for number in 0..<total { writer.write("line \(number)") }
    #expect(writer.waitingCount < LogWriter.limit / 10)
    writer.finish(within: .milliseconds(1))
    let read = Task { try await pipe.lines { $0 == "the end" } }
    // There is room again some time.
    try await eventually("room") { writer.waitingCount < 1_000 }
    writer.write("the end")
    let lines = try await read.value
    #expect(lines.last == "the end")
    // Whatever was kept is whole and in order, and where lines are missing their number is told: once, or more often when
    // the writing thread began late and made room amid the lines.
    var (next, wrong, told) = (0, [String](), 0)
    for line in lines.dropLast() {
      if line.hasSuffix(" dropped") {
        next += Int(line.split(separator: " ")[0]) ?? 0
        told += 1
      } else {
        if line != "line \(next)" { wrong.append(line) }
        next += 1
      }
    }
    #expect(wrong.isEmpty && next == total && told > 0)
  }

  /// Nobody can read any more: a service goes on all the same.
  @Test func aLogWithoutReadersHoldsNothingUp() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    let writer = LogWriter(ends[1]) { "\($0) dropped" }
    for number in 0..<1_000 { writer.write("line \(number)") }
    writer.finish(within: .seconds(20))
    #expect(writer.waitingCount == 0)
    close(ends[1])
  }
}
