// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

@Suite struct AF1RoutingTests {
  private typealias Sent = AF1Harness.Sent

  private func frame(_ header: AF1Header, _ payload: [UInt8] = []) -> [UInt8] { AF1Harness.frame(header, payload) }

  private func ask(_ command: AF1Command, _ number: UInt16, _ payload: [UInt8] = []) -> [UInt8] {
    frame(.request(command, number: number), payload)
  }

  private func hello(_ number: UInt16, nonce: UInt32) -> [UInt8] {
    var payload: [UInt8] = []
    AF1HelloRequest(nonce: nonce).encode(into: &payload)
    return ask(.hello, number, payload)
  }

  private func reply(_ request: Sent, _ payload: [UInt8]) -> [UInt8] {
    frame(AF1Header(flags: .reply, command: request.command, number: request.number), payload)
  }

  /// What was sent to the accessory, decoded.
  private func sent(_ harness: inout RoutingHarness) -> [Sent] {
    var codec = AF1Codec(maximumPayload: 65_535)
    var batch = FrameBatch<AF1Header>()
    for message in harness.takeSent() { codec.decode(message.span.bytes, into: &batch) }
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 0)
    return (0..<batch.count).map {
      Sent(
        command: batch.header(at: $0).command, number: batch.header(at: $0).number, payload: batch.payloadBytes(at: $0))
    }
  }

  /// Routing that has made contact with an accessory with this window.
  private func opened(window: UInt8 = 1) throws -> RoutingHarness {
    var harness = RoutingHarness(.af1(label: "gadget"))
    harness.send(hello(1, nonce: 5), from: 3)
    try greet(&harness, window: window)
    return harness
  }

  private func greet(_ harness: inout RoutingHarness, window: UInt8 = 1) throws {
    let asked = try #require(sent(&harness).first)
    #expect(asked.command == .hello)
    var payload: [UInt8] = []
    AF1HelloReply(bootID: 9, largestPayload: 256, window: window).encode(into: &payload)
    harness.answer(reply(asked, payload))
    #expect(harness.take(3) == frame(AF1Header(flags: .reply, command: .hello, number: 1), payload))
  }

  @Test func eachReplyOfAF1GoesToItsClient() throws {
    var harness = try opened()
    // The same numbers, as clients know nothing of one another.
    harness.send(ask(.echo, 7, [1]), from: 1)
    harness.send(ask(.echo, 7, [2]), from: 2)
    let first = try #require(sent(&harness).first)
    #expect(first.payload == [1])
    harness.answer(reply(first, [1]))
    #expect(harness.take(1) == frame(AF1Header(flags: .reply, command: .echo, number: 7), [1]))
    let second = try #require(sent(&harness).first)
    #expect(second.payload == [2] && second.number != first.number)
    harness.answer(reply(second, [2]))
    #expect(harness.take(2) == frame(AF1Header(flags: .reply, command: .echo, number: 7), [2]))
    #expect(harness.take(1).isEmpty && harness.take(3).isEmpty)
  }

  @Test func asManyAreAskedAsTheWindowAllows() throws {
    var harness = try opened(window: 2)
    for client in 1...3 { harness.send(ask(.echo, UInt16(client), [UInt8(client)]), from: client) }
    let asked = sent(&harness)
    #expect(asked.map(\.payload) == [[1], [2]])
    // In any order.
    harness.answer(reply(asked[1], [2]))
    #expect(!harness.take(2).isEmpty && harness.take(1).isEmpty)
    #expect(sent(&harness).map(\.payload) == [[3]])
  }

  @Test func anOpeningIsAnsweredFromMemory() throws {
    var harness = try opened(window: 4)
    harness.send(hello(77, nonce: 6), from: 1)
    #expect(sent(&harness).isEmpty)
    var payload: [UInt8] = []
    AF1HelloReply(bootID: 9, largestPayload: 256, window: 4).encode(into: &payload)
    #expect(harness.take(1) == frame(AF1Header(flags: .reply, command: .hello, number: 77), payload))
  }

  @Test func framesAreNeverMixed() throws {
    var harness = try opened()
    let long = ask(.echo, 1, Array(repeating: 0xA5, count: 100))
    harness.send(Array(long.prefix(40)), from: 1)
    harness.send(ask(.battery, 1), from: 2)
    let battery = try #require(sent(&harness).first)
    #expect(battery.command == .battery)
    harness.send(Array(long.dropFirst(40)), from: 1)
    harness.answer(reply(battery, [2]))
    #expect(sent(&harness).map(\.payload.count) == [100])
  }

  @Test func clientsOfOneAccessoryTakeTurns() throws {
    var harness = try opened()
    harness.send((0..<10).flatMap { ask(.echo, UInt16($0), [0, UInt8($0)]) }, from: 1)
    harness.send(ask(.echo, 1, [1]), from: 2)
    var order: [[UInt8]] = []
    while let asked = sent(&harness).first {
      order.append(asked.payload)
      harness.answer(reply(asked, asked.payload))
    }
    #expect(order.count == 11 && order.firstIndex(of: [1]) ?? 11 <= 2)
    #expect(order.filter { $0.count == 2 } == (0..<10).map { [0, UInt8($0)] })
  }

  @Test func whoAsksTooMuchIsNotReadOn() throws {
    var harness = try opened()
    harness.send((0..<500).flatMap { ask(.echo, UInt16($0), [UInt8($0 & 255)]) }, from: 1)
    #expect(!harness.mayTake(from: 1) && harness.mayTake(from: 2))
    var count = 0
    while let asked = sent(&harness).first {
      count += 1
      harness.answer(reply(asked, asked.payload))
    }
    #expect(count == 500 && harness.mayTake(from: 1) && harness.resumed.contains(1))
    #expect(harness.statistics.replies == 501)
  }

  @Test func aRepeatIsSentOnce() throws {
    var harness = try opened()
    harness.send(ask(.battery, 5), from: 1)
    let asked = try #require(sent(&harness).first)
    harness.send(ask(.battery, 5), from: 1)
    harness.answer(reply(asked, [1]))
    #expect(sent(&harness).isEmpty)
    #expect(harness.take(1) == frame(AF1Header(flags: .reply, command: .battery, number: 5), [1]))
    #expect(harness.statistics.repeats == 1)
  }

  @Test func aRoutedRepeatIsAnsweredFromMemory() throws {
    var harness = try opened()
    let move = AF1Command(rawValue: 0x41)
    harness.send(ask(move, 5, [9]), from: 1)
    let asked = try #require(sent(&harness).first)
    harness.answer(reply(asked, [1]))
    let answer = harness.take(1)
    harness.send(ask(move, 5, [9]), from: 1)
    #expect(sent(&harness).isEmpty && harness.take(1) == answer)
    // The same number of another client is another request; and so is this client's in a new conversation.
    harness.send(ask(move, 5, [9]), from: 2)
    harness.answer(reply(try #require(sent(&harness).first), [2]))
    #expect(!harness.take(2).isEmpty)
    harness.send(hello(6, nonce: 1_000), from: 1)
    harness.send(ask(move, 5, [9]), from: 1)
    #expect(sent(&harness).count == 1)
  }

  @Test func nobodyRunsWhatNobodyAnswered() throws {
    var harness = try opened()
    harness.send(ask(AF1Command(rawValue: 0x41), 5, [9]), from: 1)
    #expect(sent(&harness).count == 1)
    // Before it is repeated, HELLO is said; nobody answers that.
    harness.advance(.seconds(5))
    #expect(sent(&harness).allSatisfy { $0.command == .hello })
    harness.send(ask(AF1Command(rawValue: 0x41), 5, [9]), from: 1)
    #expect(sent(&harness).isEmpty && harness.take(1).isEmpty)
    #expect(harness.statistics.unanswered == 1)
    // Others are served on.
    harness.send(ask(.battery, 5), from: 2)
    #expect(sent(&harness).map(\.command) == [.battery])
  }

  @Test func whoLeavesCostsNobodyAnything() throws {
    var harness = try opened()
    harness.send(ask(.echo, 1, [1]) + ask(.echo, 2, [2]), from: 1)
    let asked = try #require(sent(&harness).first)
    harness.send(ask(.echo, 1, [3]), from: 2)
    harness.leave(1)
    harness.answer(reply(asked, [1]))
    #expect(harness.take(1).isEmpty && harness.statistics.orphans == 1)
    #expect(sent(&harness).map(\.payload) == [[3]])
  }

  @Test func eventsGoToAll() throws {
    var harness = try opened()
    let event = frame(.event(.battery, number: 5), [1, 12])
    harness.answer(event)
    for client in 1...3 { #expect(harness.take(client) == event) }
    // The same again is none.
    harness.answer(event)
    #expect(harness.take(1).isEmpty)
  }

  @Test func aRefusalIsPassedOn() throws {
    var harness = try opened()
    harness.send(ask(AF1Command(rawValue: 0x55), 3), from: 1)
    let asked = try #require(sent(&harness).first)
    harness.answer(frame(AF1Header(flags: [.reply, .refused], command: asked.command, number: asked.number), [3]))
    #expect(harness.take(1) == frame(AF1Header(flags: [.reply, .refused], command: asked.command, number: 3), [3]))
  }

  @Test func whatIsNoFrameIsDropped() throws {
    var harness = try opened()
    harness.send(Array("hello?".utf8), from: 1)
    harness.send(Array("hello?".utf8), from: 1)
    #expect(sent(&harness).isEmpty)
    #expect(harness.news == [.noFrame(client: 1)])
    #expect(harness.statistics.noise == 12)
    // A damaged frame is answered as the accessory would.
    var damaged = ask(.echo, 4, [1, 2, 3])
    damaged[11] ^= 1
    harness.send(damaged + ask(.battery, 5), from: 1)
    #expect(harness.take(1) == frame(AF1Header(flags: [.reply, .refused], command: .echo, number: 4), [2]))
    #expect(sent(&harness).map(\.command) == [.battery])
    harness.send(frame(.event(.battery, number: 1), [1]), from: 2)
    #expect(harness.news.count == 2)
  }

  @Test func halfAFrameIsGivenUp() throws {
    var harness = try opened()
    harness.send(Array(ask(.echo, 1, Array(repeating: 0, count: 1_000)).prefix(200)), from: 1)
    harness.advance(.seconds(2))
    harness.send(ask(.battery, 2), from: 1)
    #expect(sent(&harness).map(\.command) == [.battery])
  }

  @Test func aMessageWithoutReplyHoldsNothingUp() throws {
    var harness = try opened()
    harness.send(frame(AF1Header(flags: [], command: .echo, number: 9), [1]), from: 1)
    #expect(sent(&harness).map(\.payload) == [[1]])
    harness.send(ask(.battery, 2), from: 2)
    #expect(sent(&harness).count == 1)
  }

  @Test func anAccessoryThatDoesNotAnswerHasNoContact() throws {
    var harness = RoutingHarness(.af1(label: "gadget"))
    // Nothing is said before somebody asks.
    harness.advance(.seconds(5))
    #expect(harness.takeSent().isEmpty && harness.deadline == nil)
    harness.send(ask(.battery, 1), from: 1)
    harness.advance(.seconds(5))
    #expect(sent(&harness).map(\.command) == [.hello, .hello, .hello])
    guard case .noContact(let reason)? = harness.news.first else { return #expect(Bool(false), "\(harness.news)") }
    #expect(reason.contains("gadget does not answer"))
    #expect(harness.take(1).isEmpty && harness.deadline == nil)
    // The next request tries again.
    harness.send(hello(1, nonce: 5), from: 3)
    try greet(&harness)
  }

  @Test func aRefusedHelloMakesContactToo() throws {
    var harness = RoutingHarness(.af1(label: "gadget"))
    harness.send(hello(4, nonce: 5) + ask(.battery, 5), from: 1)
    let asked = try #require(sent(&harness).first)
    harness.answer(frame(AF1Header(flags: [.reply, .refused], command: .hello, number: asked.number), [3]))
    #expect(harness.take(1) == frame(AF1Header(flags: [.reply, .refused], command: .hello, number: 4), [3]))
    #expect(sent(&harness).map(\.command) == [.battery])
  }

  @Test func aBlockedAccessoryGetsNoMoreRequests() throws {
    var harness = try opened(window: 8)
    harness.isBlocked = true
    harness.send(ask(.echo, 1, [1]), from: 1)
    #expect(harness.takeSent().isEmpty)
    harness.isBlocked = false
    harness.send(ask(.echo, 1, [2]), from: 2)
    #expect(sent(&harness).map(\.payload) == [[1], [2]])
  }
}
