// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryIO
@testable import AccessoryLink

/// Bytes and lines, with the test as the accessory and the clock.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct LineExchangeTests {
  private let clock = ManualClock()
  private let transport = MemoryTransport()

  private func link(queueLimit: Int = 256) async throws -> Link<LineExchange> {
    try await Link.open(
      AccessorySession(transport), rules: LineExchange(label: "robot", queueLimit: queueLimit), clock: clock)
  }

  private func question(_ text: String) -> LineRequest {
    LineRequest(Array(text.utf8), name: text, timeout: .seconds(1)) { $0.starts(with: "OK".utf8) }
  }

  @Test func aLineWithoutAnswerEndsWhenSent() async throws {
    let link = try await link()
    let reply = try await link.request(LineRequest(Array("f".utf8), name: "a key"))
    #expect(reply == nil && transport.written == Array("f".utf8))
    await link.close()
  }

  /// What isn't the answer is an event, and what is behind a question waits for its answer.
  @Test func aQuestionGetsItsAnswerAmongEvents() async throws {
    let link = try await link()
    var events = link.events().makeAsyncIterator()
    let asking = Task { try await link.request(question("AT\r\n")) }
    #expect(try await transport.nextWritten(4) == Array("AT\r\n".utf8))
    let sending = Task { try await link.request(LineRequest(Array("f".utf8), name: "a key")) }
    transport.receive(Array("hello\nOK\r\n".utf8))
    #expect(try await events.next() == Array("hello\n".utf8))
    #expect(try await asking.value == Array("OK\r\n".utf8))
    #expect(try await sending.value == nil)
    #expect(try await transport.nextWritten(1) == Array("f".utf8))
    await link.close()
  }

  /// Silence ends a line that has no end.
  @Test func silenceEndsAnAnswerWithoutALineEnd() async throws {
    let link = try await link()
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    let scheduled = clock.scheduledCount
    transport.receive(Array("OK".utf8))
    try await clock.waitForSchedule(after: scheduled)
    clock.advance(by: .milliseconds(50))
    #expect(try await asking.value == Array("OK".utf8))
    await link.close()
  }

  /// A reply that has arrived in time is the reply, though nobody had his turn to look at it before the limit.
  @Test func aReplyWaitingToBeDecodedIsInTime() async throws {
    let link = try await link()
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    try await clock.waitForPending()
    let reply = Array("OK\r\n".utf8)
    #expect(reply.withUnsafeBytes { transport.input.append($0, notifying: false) })
    clock.advance(by: .seconds(10))
    #expect(try await asking.value == reply)
    #expect(link.statistics.link.timeouts == 0)
    await link.close()
  }

  /// Likewise the line isn't silent behind the first half of a reply when the second is there.
  @Test func halfAReplyWaitsToBeDecoded() async throws {
    let link = try await link()
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    let scheduled = clock.scheduledCount
    transport.receive(Array("OK, all".utf8))
    try await clock.waitForSchedule(after: scheduled)
    #expect(Array(" is well\r\n".utf8).withUnsafeBytes { transport.input.append($0, notifying: false) })
    clock.advance(by: .milliseconds(60))
    #expect(try await asking.value == Array("OK, all is well\r\n".utf8))
    await link.close()
  }

  @Test func aQuestionWithoutAnswerTimesOut() async throws {
    let link = try await link()
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    try await clock.waitForPending()
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: AccessoryError.self) { try await asking.value }
    #expect(error?.kind == .timedOut && error?.message.contains("does not answer AT") == true)
    #expect(try await link.request(LineRequest([1], name: "a byte")) == nil)
    await link.close()
  }

  @Test func unpluggingFailsTheQuestionAndLaterOnes() async throws {
    let link = try await link()
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    transport.unplug()
    let error = await #expect(throws: AccessoryError.self) { try await asking.value }
    #expect(error?.kind == .disconnected)
    let late = await #expect(throws: AccessoryError.self) { try await link.request(question("AT\r\n")) }
    #expect(late?.kind == .disconnected)
    await link.close()
  }

  /// The queue has an end, and who is cancelled leaves it.
  @Test func theQueueOfLinesIsBounded() async throws {
    let link = try await link(queueLimit: 1)
    let asking = Task { try await link.request(question("AT\r\n")) }
    _ = try await transport.nextWritten(4)
    let waiting = Task { try await link.request(question("x")) }
    try await eventually("one to wait") { link.exchange.waitingCount >= 1 }
    let error = await #expect(throws: AccessoryError.self) { try await link.request(question("y")) }
    #expect(error?.kind == .busy)
    waiting.cancel()
    let cancelled = await #expect(throws: AccessoryError.self) { try await waiting.value }
    #expect(cancelled?.kind == .cancelled)
    transport.receive(Array("OK\n".utf8))
    #expect(try await asking.value != nil)
    await link.close()
  }

  @Test func theOldestWaitingLineIsDropped() async throws {
    let rules = LineExchange(label: "robot", queueLimit: 1, overflow: .dropOldest)
    let link = try await Link.open(AccessorySession(transport), rules: rules, clock: clock)
    let asking = Task { try await link.request(question("AT")) }
    _ = try await transport.nextWritten(2)
    let dropped = Task { try await link.request(LineRequest([1], name: "a key")) }
    try await eventually("one to wait") { link.exchange.waitingCount >= 1 }
    let last = Task { try await link.request(LineRequest([2], name: "a key")) }
    let error = await #expect(throws: AccessoryError.self) { try await dropped.value }
    #expect(error == AccessoryError(.busy, "a request waits for robot already: try again later"))
    transport.receive(Array("OK\n".utf8))
    _ = try await (asking.value, last.value)
    #expect(try await transport.nextWritten(1) == [2])
    await link.close()
  }

  @Test func aLineWithoutEndIsCountedAsTooLong() async throws {
    let link = try await link()
    var events = link.events().makeAsyncIterator()
    transport.receive(Array(repeating: UInt8(ascii: "x"), count: LineExchange.longestLine + 1))
    try await clock.waitForPending()
    clock.advance(by: .seconds(1))
    transport.receive(Array("short\n".utf8))
    #expect(try await events.next() == Array("short\n".utf8))
    #expect(link.statistics.frames.tooLong == 1)
    await link.close()
  }
}
