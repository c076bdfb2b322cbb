// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

/// Clients whose requests the accessory doesn't answer, beside one that asks what it answers.
@Suite struct FairTurnTests {
  private static let basic: [UInt8] = [0xDD, 0xA5, 0x03, 0x00, 0xFF, 0xFD, 0x77]
  private static let basicReply: [UInt8] = {
    let digits = "DD03001B1700000002D003E8000020780000000000001048030F020B760B82FBFF77".compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }()

  /// A request that the description doesn't have.
  private static func unknown(_ register: UInt8) -> [UInt8] {
    [0xDD, 0xA5, register, 0x00, 0xFF, ~register &+ 1, 0x77]
  }

  /// A client that asks what is answered is there already, and then others come.
  private func harness(strangers: ClosedRange<Int>) throws -> RoutingHarness {
    let routing = try FrameRouting.described(Samples.jbd, label: "bms", allowsWrites: true)
    var harness = RoutingHarness(try #require(routing), clients: [99])
    _ = wait(&harness, of: 99)
    harness.advance(.milliseconds(100))
    for client in strangers {
      harness.come(client)
      harness.send((0..<20).flatMap { Self.unknown(0x40 + $0) }, from: client)
    }
    return harness
  }

  /// Sends the honest client's request, and returns how long it takes until it reaches the accessory.
  private func wait(_ harness: inout RoutingHarness, of client: Int) -> Duration {
    _ = harness.takeSent()
    harness.send(Self.basic, from: client)
    for step in 0..<20_000 {
      if harness.takeSent().contains(Self.basic) {
        harness.answer(Self.basicReply)
        return .milliseconds(step * 10)
      }
      harness.advance(.milliseconds(10))
    }
    return .seconds(200)
  }

  /// A request waits for one request without an answer, and not for one of each other client.
  @Test(arguments: [10, 30]) func aClientWaitsForOneTimeoutOnly(count: Int) throws {
    var harness = try harness(strangers: 1...count)
    _ = harness.take(99)
    for _ in 0..<10 {
      let wait = wait(&harness, of: 99)
      #expect(wait <= .seconds(2), "it waited \(wait)")
      #expect(harness.take(99) == Self.basicReply)
      harness.advance(.milliseconds(100))
    }
  }

  /// A client that comes after the others is as unknown as they are: it waits for their first requests, and for no more.
  @Test func aNewClientWaitsForOneRoundAtMost() throws {
    var harness = try harness(strangers: 1...10)
    harness.come(50)
    #expect(wait(&harness, of: 50) <= .seconds(12))
    for _ in 0..<5 {
      harness.advance(.milliseconds(100))
      #expect(wait(&harness, of: 50) <= .seconds(2))
    }
  }

  /// Clients without answers go on all the same: each has its turns.
  @Test func clientsGetTheirTurnsWhenNothingAnswers() throws {
    var harness = try harness(strangers: 1...2)
    for _ in 0..<60 { _ = wait(&harness, of: 99) }
    harness.advance(.seconds(120))
    #expect(harness.statistics.unanswered == 40)
  }

  /// A client that repeats a request that nobody answers isn't first for ever.
  @Test func whoRepeatsHasNoRightOfWay() throws {
    var harness = try harness(strangers: 1...1)
    harness.leave(1)
    harness.advance(.seconds(2))
    _ = harness.takeSent()
    harness.come(1)
    harness.send(Self.unknown(0x40), from: 1)
    harness.send(Self.basic, from: 99)
    for _ in 0..<40 {
      harness.send(Self.unknown(0x40), from: 1)
      harness.advance(.milliseconds(100))
    }
    #expect(harness.takeSent().contains(Self.basic))
  }

  /// Time isn't saved up: who was silent for long begins where the others are.
  @Test func aClientThatComesLateTakesTurns() throws {
    var harness = try harness(strangers: 1...1)
    harness.advance(.seconds(6))
    harness.come(2)
    harness.send((0..<20).flatMap { Self.unknown(0x60 + $0) }, from: 2)
    _ = harness.takeSent()
    harness.advance(.seconds(8))
    let sent = harness.takeSent()
    let (first, second) = (sent.count { $0[2] < 0x60 }, sent.count { $0[2] >= 0x60 })
    #expect(first >= 2 && second - first <= 3, "\(first) and \(second)")
  }
}
