// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import FamilyAF1
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3

/// What a host sends, beside what was recorded.
struct ReplayHostTests {
  private func script(_ steps: ReplayScript.Step...) throws -> ReplayScript {
    var script = ReplayScript()
    for (index, step) in steps.enumerated() { try script.add(step, at: .seconds(index)) }
    return script
  }

  private func frame(_ header: AF1Header, _ payload: [UInt8] = []) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try AF1Codec(maximumPayload: 1_000).encode(header, payload: payload, into: &bytes)
    return bytes
  }

  @Test func theHostsBytesMayComeInAnyPieces() throws {
    let script = try script(.host([1, 2, 3]), .accessory([9]), .host([4, 5]))
    for cut in 0...5 {
      var host = ReplayHost(script, .none)
      host.take(Array([1, 2, 3, 4, 5][..<cut]))
      #expect(host.matchedCount == cut && Array(host.awaited?.bytes ?? []).last == (cut < 3 ? 3 : cut < 5 ? 5 : nil))
      host.take(Array([1, 2, 3, 4, 5][cut...]))
      #expect(host.matchedCount == 5 && host.difference == nil && host.awaited == nil)
    }
  }

  @Test func theFirstDifferenceIsKept() throws {
    var host = ReplayHost(try script(.host([1, 2]), .host([3, 4, 5])), .none)
    host.take([1, 2, 3])
    host.take([7, 8])
    host.take([5])
    let difference = try #require(host.difference)
    #expect(difference.reason == .otherBytes && difference.offset == 3 && difference.time == .seconds(1))
    #expect(difference.expected == [4, 5] && difference.got == [7, 8, 5])
    #expect(difference.expectedRecord == [3, 4, 5] && difference.gotRecord == [3, 7, 8, 5])
    host.take([UInt8](repeating: 1, count: 10_000))
    #expect(host.difference?.got.count == ReplayHost.shownLimit)
  }

  @Test func whatIsMoreThanWasRecordedIsADifferenceUnlessItMayBe() throws {
    let script = try script(.host([1]))
    var host = ReplayHost(script, .none)
    host.take([1, 2, 3])
    #expect(host.difference?.reason == .tooMuch && host.difference?.got == [2, 3] && host.difference?.expected == [])
    var open = ReplayHost(script, .none, mayGoOn: true)
    open.take([1, 2, 3])
    #expect(open.difference == nil && open.matchedCount == 1)
  }

  @Test func numbersOfAF1AreTheHostsOwnAndRepliesGetThem() throws {
    let hello = try frame(.request(.hello, number: 100), [1, 2, 3, 4])
    let ask = try frame(.request(.battery, number: 101))
    let reply = try frame(.reply(to: .request(.battery, number: 101)), [2, 57])
    let event = try frame(.event(.battery, number: 101), [2, 56])
    var script = ReplayScript()
    try script.add(.host(hello), at: .zero)
    try script.add(.host(ask), at: .zero)
    // The reply comes in two pieces; an event has a number that isn't the host's.
    try script.add(.accessory(Array(reply[..<6])), at: .zero)
    try script.add(.accessory(Array(reply[6...]) + event), at: .zero)
    var player = ReplayPlayer(script, speed: .atOnce, numbering: .af1)
    player.hostCame(at: MonotonicTime(nanoseconds: 0), pause: .zero)
    player.take(try frame(.request(.hello, number: 7), [9, 9, 9, 9]))
    player.take(try frame(.request(.battery, number: 8)))
    #expect(player.host.difference == nil)
    var sent: [UInt8] = []
    while case .send(let bytes)? = player.next(at: MonotonicTime(nanoseconds: 1)) { sent += bytes }
    #expect(sent == (try frame(.reply(to: .request(.battery, number: 8)), [2, 57]) + event))
  }

  @Test func whatIsNoNumberMustBeAsRecorded() throws {
    let ask = try frame(.request(.echo, number: 101), [1, 2, 3])
    for place in ask.indices where !(4..<6).contains(place) && !(8..<10).contains(place) {
      var host = ReplayHost(try script(.host(ask)), .af1)
      var other = ask
      other[place] ^= 0x40
      host.take(other)
      #expect(host.difference?.offset == place)
    }
    // A number without its checksum.
    for place in [4, 5, 8, 9] {
      var host = ReplayHost(try script(.host(ask)), .af1)
      var other = ask
      other[place] ^= 0x40
      host.take(other)
      #expect(host.difference?.offset == ask.count - 1)
    }
  }

  @Test func repliesOfAnEV3GetTheHostsNumbers() throws {
    var script = ReplayScript()
    try script.add(.host([5, 0, 42, 0, 0, 1, 2]), at: .zero)
    try script.add(.accessory([4, 0, 42, 0, 2, 100]), at: .zero)
    var player = ReplayPlayer(script, speed: .atOnce, numbering: .ev3)
    player.hostCame(at: MonotonicTime(nanoseconds: 0), pause: .zero)
    player.take([5, 0, 0x34, 0x12, 0, 1, 2])
    #expect(player.next(at: MonotonicTime(nanoseconds: 0)) == .send([4, 0, 0x34, 0x12, 2, 100]))
    var other = ReplayHost(script, .ev3)
    other.take([5, 0, 0x34, 0x12, 1])
    #expect(other.difference?.offset == 4)
  }

  @Test func numbersOfAnEV3FollowItsGreeting() throws {
    let greeting = Array("GET /target?sn=\r\nProtocol:EV3\r\n\r\n".utf8)
    let accepted = Array("Accept:EV340\r\n\r\n".utf8)
    var script = ReplayScript()
    try script.add(.host(greeting), at: .zero)
    try script.add(.accessory(accepted), at: .zero)
    try script.add(.host([3, 0, 42, 0, 1]), at: .zero)
    try script.add(.accessory([3, 0, 42, 0, 3]), at: .zero)
    var player = ReplayPlayer(script, speed: .atOnce, numbering: .ev3)
    player.hostCame(at: MonotonicTime(nanoseconds: 0), pause: .zero)
    player.take(greeting + [3, 0, 7, 8, 1])
    #expect(player.host.difference == nil)
    #expect(player.next(at: MonotonicTime(nanoseconds: 0)) == .send(accepted))
    #expect(player.next(at: MonotonicTime(nanoseconds: 0)) == .send([3, 0, 7, 8, 3]))
  }

  @Test func withoutNumberingAllIsCompared() throws {
    var host = ReplayHost(try script(.host(try frame(.request(.battery, number: 1)))), .none)
    host.take(try frame(.request(.battery, number: 2)))
    #expect(host.difference?.offset == 4)
  }
}
