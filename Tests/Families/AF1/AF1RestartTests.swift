// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// What must not run twice, doesn't.
@Suite struct AF1RestartTests {
  static let command = AF1Command(rawValue: 0x40)

  @Test func aLostReplyIsAskedForAgainOnlyAfterTheAccessoryProvedToBeTheSame() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, payload: [1], largestReply: 0))
    let request = harness.takeSent()[0]
    harness.advance(.milliseconds(500))
    let probe = harness.takeSent()
    #expect(probe.map(\.command) == [.hello])
    // The nonce of this opening: the accessory is to keep what it remembers.
    #expect(probe[0].payload == [0x78, 0x56, 0x34, 0x12])
    #expect(probe[0].number != request.number)
    greet(&harness, probe[0], bootID: 0xC0FF_EE01)
    #expect(harness.takeSent() == [request])
    harness.reply(request, [7])
    #expect(harness.answer(id) == [7])
    #expect(harness.exchange.counters.restarts == 0)
  }

  @Test func anAccessoryThatRestartedFailsTheRequestAsDisconnected() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    let request = harness.takeSent()[0]
    let next = harness.submit(AF1Request(.battery))
    harness.advance(.milliseconds(500))
    greet(&harness, harness.takeSent()[0], bootID: 2)
    #expect(harness.error(id)?.kind == .disconnected)
    #expect(harness.exchange.counters.restarts == 1)
    // The request is never sent again, and the link goes on with the next.
    let sent = harness.takeSent()
    #expect(sent.map(\.command) == [.battery])
    #expect(!sent.contains(request))
    harness.reply(sent[0], [2])
    #expect(harness.answer(next) == [2])
  }

  @Test func aProbeThatNobodyAnswersFailsTheRequest() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    harness.advance(.seconds(10))
    #expect(harness.error(id)?.kind == .timedOut)
    #expect(harness.takeSent().map(\.command) == [Self.command, .hello, .hello, .hello])
    #expect(harness.exchange.suspended.isEmpty)
    #expect(harness.exchange.deadline == nil)
  }

  /// The accessory keeps its replies for 10 s: after that a repeat would run again.
  @Test func whatTheAccessoryHasForgottenIsNotRepeated() {
    var options = AF1Exchange.Options()
    (options.tries, options.timeout) = (1_000, .milliseconds(500))
    var harness = AF1Harness.opened(options: options)
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    var sent = harness.takeSent()
    var repeats = 0
    for _ in 0..<40 {
      harness.advance(.milliseconds(500))
      let probe = harness.takeSent()
      guard let hello = probe.first else { break }
      #expect(hello.command == .hello)
      greet(&harness, hello, bootID: 0xC0FF_EE01)
      sent = harness.takeSent()
      if sent.isEmpty { break }
      repeats += 1
    }
    #expect(repeats == 18, "the last one 9 s after the first; 500 ms later it could come too late")
    #expect(harness.error(id)?.kind == .timedOut)
    #expect(harness.exchange.suspended.isEmpty && harness.exchange.outstanding.isEmpty)
  }

  @Test func aReplyThatComesDuringTheProbeIsNotTakenTwice() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    let request = harness.takeSent()[0]
    harness.advance(.milliseconds(500))
    let probe = harness.takeSent()[0]
    harness.reply(request, [7])
    #expect(harness.results[id] == nil)
    greet(&harness, probe, bootID: 0xC0FF_EE01)
    harness.reply(harness.takeSent()[0], [7])
    #expect(harness.answer(id) == [7])
    #expect(harness.completions == 2)
  }

  @Test func cancellingDuringTheProbeGivesBothUp() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    harness.advance(.milliseconds(500))
    let probe = harness.takeSent()[1]
    harness.cancel(id)
    #expect(harness.error(id)?.kind == .cancelled)
    let next = harness.submit(AF1Request(.battery))
    greet(&harness, probe, bootID: 2)
    let sent = harness.takeSent()
    #expect(sent.map(\.command) == [.battery])
    harness.reply(sent[0], [3])
    #expect(harness.answer(next) == [3])
  }

  @Test func theEndDuringTheProbeFailsTheRequestOnce() {
    var harness = AF1Harness.opened()
    let id = harness.submit(AF1Request(Self.command, largestReply: 0))
    harness.advance(.milliseconds(500))
    harness.end(.disconnected("gadget"))
    #expect(harness.error(id)?.kind == .disconnected)
    #expect(harness.completions == 2)
  }

  private func greet(_ harness: inout AF1Harness, _ hello: AF1Harness.Sent, bootID: UInt32) {
    var payload: [UInt8] = []
    AF1HelloReply(bootID: bootID, largestPayload: 4_096, window: 1).encode(into: &payload)
    harness.reply(hello, payload)
  }
}

@Suite struct AF1EventTests {
  @Test func eventsAreDeliveredInOrderAndGapsCounted() {
    var harness = AF1Harness.opened()
    for number: UInt16 in [0xFFFE, 0xFFFF, 0x0000, 0x0003] { harness.event(number) }
    #expect(harness.events.map(\.number) == [0xFFFE, 0xFFFF, 0, 3])
    #expect(harness.exchange.counters.gaps == 2)
  }

  @Test func eventsThatComeTwiceAreDropped() {
    var harness = AF1Harness.opened()
    for number: UInt16 in [4, 5, 5, 4, 6] { harness.event(number) }
    #expect(harness.events.map(\.number) == [4, 5, 6])
    #expect(harness.exchange.counters.duplicates == 2)
    #expect(harness.exchange.counters.gaps == 0)
  }

  @Test func anAccessoryThatCountsFromTheStartAgainIsHeard() {
    var harness = AF1Harness.opened()
    for number: UInt16 in [1_000, 1_001, 0, 1] { harness.event(number) }
    #expect(harness.events.map(\.number) == [1_000, 1_001, 0, 1])
    #expect(harness.exchange.counters.gaps == 0)
  }

  @Test func requestsFromTheAccessoryAreNoEvents() {
    var harness = AF1Harness.opened()
    harness.deliver(AF1Harness.frame(.request(.battery, number: 1), []))
    #expect(harness.events.isEmpty)
    #expect(harness.exchange.counters.unexpected == 1)
  }
}
