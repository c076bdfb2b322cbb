// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Testing

/// Seen as a user sees it: without what is internal to the libraries.
@Suite struct ExchangeHostTests {
  private var host = ExchangeHost(LineExchange(label: "gadget"), timing: LineTiming(perByte: .milliseconds(1)))

  private func ask(_ text: String) -> LineRequest {
    LineRequest(Array(text.utf8), name: text, timeout: .seconds(1)) { $0.starts(with: Array("=".utf8)) }
  }

  @Test mutating func theHostGetsRepliesEventsAndWrittenBytes() {
    let opening = host.begin()
    #expect(host.completed == [opening])
    let (first, second) = (host.submit(ask("A\n")), host.submit(ask("B\n")))
    #expect(host.takeWritten() == [Array("A\n".utf8)] && host.takeWritten().isEmpty)
    host.deliver(Array("hello\n=1".utf8))
    #expect(host.events.count == 1 && host.reply(to: first) == nil)
    host.silence()
    #expect(host.reply(to: first) == Array("=1".utf8))
    #expect(host.takeWritten() == [Array("B\n".utf8)])
    host.deliver(message: Array("=2\n".utf8))
    #expect(host.reply(to: second) != nil && host.error(of: second) == nil)
    #expect(host.completed == [opening, first, second])
  }

  @Test mutating func timeIsMovedFromDeadlineToDeadline() {
    host.begin()
    let (first, second) = (host.submit(ask("A\n")), host.submit(ask("B\n")))
    // A second, and the time on the wire of two bytes and the 64 that are allowed for a reply.
    host.advance(.milliseconds(1_065))
    #expect(host.completed.count == 1)
    host.advance(.milliseconds(1))
    #expect(host.error(of: first)?.kind == .timedOut)
    let now = host.now
    host.setTiming(.instant)
    host.advance(.seconds(10))
    #expect(host.now == now + .seconds(10))
    #expect(host.error(of: second)?.kind == .timedOut)
    #expect(host.takeWritten().count == 2)
  }

  @Test mutating func nothingIsWrittenWhileTheHostIsBlocked() {
    host.begin()
    host.block()
    let id = host.submit(LineRequest([1], name: "A"))
    #expect(host.takeWritten().isEmpty && host.results[id] == nil)
    host.unblock()
    #expect(host.takeWritten() == [[1]] && host.results[id] != nil)
  }

  @Test mutating func cancelledAndEndedRequestsFail() {
    host.begin()
    let (first, second) = (host.submit(ask("A\n")), host.submit(ask("B\n")))
    host.cancel(first)
    #expect(host.error(of: first)?.kind == .cancelled)
    host.end(.disconnected("gadget"))
    #expect(host.error(of: second) == .disconnected("gadget"))
    let third = host.submit(ask("C\n"))
    #expect(host.error(of: third)?.kind == .disconnected)
  }

  /// Rules that name a deadline that has passed for ever hang no test.
  @Test func aStuckDeadlineHangsNoTest() {
    var host = ExchangeHost(StuckExchange())
    host.advance(.seconds(1))
    #expect(host.exchange.told >= 1 && host.exchange.told < 10)
  }

  /// Without the host: ids and effects as a test makes them.
  @Test func rulesAreTestedWithoutAHost() {
    var rules = LineExchange(label: "gadget")
    var effects = Effects<[UInt8]?, [UInt8]>(isBlocked: true)
    let now = MonotonicTime(nanoseconds: 0)
    rules.begin(RequestID(rawValue: 1), now: now, effects: &effects)
    rules.submit(RequestID(rawValue: 2), LineRequest([1, 2], name: "A"), now: now, effects: &effects)
    #expect(effects.completions.map(\.id.rawValue) == [1])
    effects = Effects()
    rules.timePassed(now: now, effects: &effects)
    #expect(effects.messages == [2] && effects.output == [1, 2])
    #expect(effects.takeMessages() == [[1, 2]] && effects.takeMessages().isEmpty && effects.output.isEmpty)
    effects.output = [1, 2, 3]
    #expect(effects.takeMessages() == [[1, 2, 3]], "what was appended without write is one message")
    effects.write([])
    effects.write([4])
    #expect(effects.takeMessages() == [[], [4]])
  }
}

/// Rules with a mistake.
private struct StuckExchange: Exchange {
  var codec = LineExchange(label: "gadget").codec
  var counters = LinkCounters()
  var told = 0
  var deadline: MonotonicTime? { MonotonicTime(nanoseconds: 0) }

  mutating func setTiming(_ timing: LineTiming) {}
  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Int, Int>) {}
  mutating func submit(_ id: RequestID, _ request: Int, now: MonotonicTime, effects: inout Effects<Int, Int>) {}
  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Int, Int>) {}
  mutating func receive(
    _ batch: FrameBatch<ReplyEnd>, at index: Int, now: MonotonicTime, effects: inout Effects<Int, Int>
  ) {}
  mutating func timePassed(now: MonotonicTime, effects: inout Effects<Int, Int>) { told += 1 }
  mutating func end(_ error: AccessoryError, effects: inout Effects<Int, Int>) {}
}
