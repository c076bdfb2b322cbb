// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyEV3

@Suite struct EV3RoutingTests {
  private func message(_ number: UInt16, _ type: EV3MessageType, _ body: [UInt8]) throws -> [UInt8] {
    try EV3Message(number: number, type: type, body: body).encoded()
  }

  /// What was sent to the brick, decoded.
  private func sent(_ harness: inout RoutingHarness) throws -> [EV3Message] {
    try harness.takeSent().map { try EV3Message(decoding: Array($0.dropFirst(2))) }
  }

  @Test func eachReplyOfABrickGoesToItsClient() throws {
    var harness = RoutingHarness(.ev3(label: "brick"))
    harness.send(try message(42, .directCommand, [0, 0, 1]), from: 1)
    harness.send(try message(42, .directCommand, [0, 0, 2]), from: 2)
    // One after another: a second command would end the first.
    let first = try #require(try sent(&harness).first)
    #expect(first.body == [0, 0, 1])
    harness.answer(try message(first.number, .directReply, [7]))
    #expect(harness.take(1) == (try message(42, .directReply, [7])))
    let second = try #require(try sent(&harness).first)
    #expect(second.body == [0, 0, 2] && second.number != first.number)
    harness.answer(try message(second.number, .directReply, [8]))
    #expect(harness.take(2) == (try message(42, .directReply, [8])) && harness.take(1).isEmpty)
  }

  @Test func aRefusalIsPassedOnAsItIs() throws {
    var harness = RoutingHarness(.ev3(label: "brick"))
    harness.send(try message(9, .systemCommand, [0x9C, 0x41, 0]), from: 1)
    let asked = try #require(try sent(&harness).first)
    harness.answer(try message(asked.number, .systemError, [0x9C, 0x06]))
    #expect(harness.take(1) == (try message(9, .systemError, [0x9C, 0x06])))
    harness.send(try message(10, .directCommand, [0, 0, 0xFF]), from: 1)
    let next = try #require(try sent(&harness).first)
    harness.answer(try message(next.number, .directError, []))
    #expect(harness.take(1) == (try message(10, .directError, [])))
  }

  @Test func commandsWithoutAReplyArePacedByMarkers() throws {
    var harness = RoutingHarness(.ev3(label: "brick"))
    for number in 0..<8 {
      harness.send(try message(UInt16(number), .directCommandNoReply, [0, 0, UInt8(number)]), from: 1)
    }
    let first = try sent(&harness)
    #expect(first.count == 5 && first.last?.type == .systemCommand)
    harness.answer(try message(first[4].number, .systemReply, [0x9D, 0]))
    #expect(harness.take(1).isEmpty)
    #expect(try sent(&harness).prefix(4).map(\.body) == (4..<8).map { [0, 0, UInt8($0)] })
  }

  @Test func aBrickThatDoesNotAnswerIsAskedByTheNext() throws {
    var harness = RoutingHarness(.ev3(label: "brick"))
    harness.send(try message(1, .directCommand, [0, 0, 1]), from: 1)
    harness.send(try message(1, .directCommand, [0, 0, 2]), from: 2)
    let lost = try #require(try sent(&harness).first)
    harness.advance(.seconds(9))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.seconds(2))
    #expect(try sent(&harness).map(\.body) == [[0, 0, 2]])
    // What comes too late is nobody's.
    harness.answer(try message(lost.number, .directReply, [1]))
    #expect(harness.take(1).isEmpty && harness.take(2).isEmpty && harness.statistics.unanswered == 1)
  }

  @Test func whatIsNoCommandIsDropped() throws {
    var harness = RoutingHarness(.ev3(label: "brick"))
    harness.send(try message(1, .directReply, [1]), from: 1)
    #expect(harness.takeSent().isEmpty)
    // A length that can't be, then silence, then a command.
    harness.send([0xFF, 0xFF, 1, 2, 3], from: 1)
    harness.advance(.seconds(2))
    harness.send(try message(2, .directCommand, [0, 0, 1]), from: 1)
    #expect(try sent(&harness).count == 1)
    #expect(harness.news.contains(.noFrame(client: 1)))
  }
}
