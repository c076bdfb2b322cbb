// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@Suite struct DescribedExchangeTests {
  private func host(_ description: ProtocolDescription) throws -> ExchangeHost<DescribedExchange> {
    var host = ExchangeHost(try DescribedExchange(description, label: "bms"))
    host.begin()
    return host
  }

  private func request(_ name: String, of description: ProtocolDescription) throws -> DescribedRequest {
    let index = try #require(description.request(named: name))
    return try DescribedRequest(index, of: description, by: RequestEncoder(DescribedCodec(description)))
  }

  private static let basic = bytes("DD A5 03 00 FF FD 77")
  private static let reply = bytes("DD03001B1700000002D003E8000020780000000000001048030F020B760B82FBFF77")

  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  @Test func aReplyInPiecesIsFoundBehindAnEcho() throws {
    var host = try host(Samples.jbd)
    let id = host.submit(try request("basic", of: Samples.jbd))
    #expect(host.takeWritten() == [Self.basic])
    // In two pieces, behind the echo of the request, which reads like a refusal of another register.
    host.receive(Self.basic + Self.reply.prefix(7))
    #expect(host.results[id] == nil)
    host.receive(Array(Self.reply.dropFirst(7)))
    let message = try #require(try host.results[id]?.get())
    #expect(message["battery.voltage"]?.value == .number(58.88))
    #expect(host.exchange.counters.replies == 1)
  }

  @Test func aReplyToAnotherRegisterIsLate() throws {
    var host = try host(Samples.jbd)
    let id = host.submit(try request("cells", of: Samples.jbd))
    host.receive(Self.reply)
    #expect(host.results[id] == nil)
    #expect(host.exchange.counters.lateReplies == 1)
    #expect(host.events.isEmpty)
  }

  @Test func aReplyOfAnotherUnitIsNotTaken() throws {
    var host = try host(Samples.units)
    let index = try #require(Samples.units.request(named: "basic"))
    let writer = RequestEncoder(try DescribedCodec(Samples.units))
    let id = host.submit(try DescribedRequest(index, unit: 2, of: Samples.units, by: writer))
    #expect(host.takeWritten() == [Self.bytes("A5 41 90 00 76")])
    host.receive(Self.bytes("A5 01 90 32 68"))
    // The request itself, from an adapter that hears what it sends.
    host.receive(Self.bytes("A5 41 90 00 76"))
    #expect(host.results[id] == nil)
    #expect(host.exchange.counters.lateReplies == 1 && host.exchange.counters.unexpected == 1)
    host.receive(Self.bytes("A5 02 90 32 69"))
    #expect(try host.results[id]?.get()?.unit == 2)
  }

  @Test func aRefusalNamesItsReasonAndCode() throws {
    var host = try host(Samples.jbd)
    let id = host.submit(try request("basic", of: Samples.jbd))
    host.receive(Self.bytes("DD 04 80 00 FF 80 77"))  // of another register
    #expect(host.results[id] == nil)
    host.receive(Self.bytes("DD 03 80 00 FF 80 77"))
    let error = try #require(host.error(of: id))
    #expect(error.kind == .refused)
    #expect(error.message == "bms refuses basic: this register isn't known")
    #expect(error.code == .refusal(0x80))
  }

  @Test func aRequestWithoutAnswerTimesOutAfterThreeTries() throws {
    var host = try host(Samples.jbd)
    let id = host.submit(try request("basic", of: Samples.jbd))
    host.advance(.seconds(10))
    #expect(host.takeWritten().count == 3)
    #expect(host.error(of: id)?.message == "bms does not answer basic, which was sent 3 times")
    #expect(host.error(of: id)?.kind == .timedOut)
  }

  /// Somebody who describes a protocol sees which check the accessory has, and which one the description gives.
  @Test func aWrongCheckIsToldWithBothValues() throws {
    var host = try host(Samples.jbd)
    let id = host.submit(try request("basic", of: Samples.jbd))
    var damaged = Self.reply
    damaged[damaged.count - 2] ^= 0x01
    host.receive(damaged)
    host.advance(.seconds(10))
    #expect(
      host.error(of: id)?.message
        == "bms does not answer basic, which was sent 3 times; in the last frame from it the check is fbfe, calculated fbff"
    )
  }

  @Test func theGapIsKept() throws {
    var host = try host(Samples.jbd)
    let first = host.submit(try request("basic", of: Samples.jbd))
    let second = host.submit(try request("cells", of: Samples.jbd))
    #expect(host.takeWritten().count == 1)
    host.receive(Self.reply)
    #expect(host.results[first] != nil)
    host.advance(.milliseconds(19))
    #expect(host.takeWritten().isEmpty)
    host.advance(.milliseconds(1))
    #expect(host.takeWritten().count == 1)
    host.receive(Self.bytes("DD 04 00 04 0F66 0F63 FF15 77"))
    #expect(try host.results[second]?.get()?["battery.cells"]?.value == .list([.number(3.942), .number(3.939)]))
  }

  @Test func aCancelledRequestStillTakesItsReply() throws {
    var host = try host(Samples.jbd)
    let first = host.submit(try request("basic", of: Samples.jbd))
    let second = host.submit(try request("basic", of: Samples.jbd))
    host.cancel(first)
    #expect(host.error(of: first)?.kind == .cancelled)
    #expect(host.takeWritten().count == 1)
    // This answers the first one.
    host.receive(Self.reply)
    #expect(host.results[second] == nil)
    host.advance(.milliseconds(20))
    host.receive(Self.reply)
    #expect(try host.results[second]?.get() != nil)
    #expect(Set(host.completed).count == host.completed.count)
  }

  /// Nothing in a reply says what it answers: one that comes late must not be taken for the next request's.
  @Test func aLateReplyIsNoOtherRequests() throws {
    var silent = Samples.jbd
    for index in silent.requests.indices {
      silent.requests[index].echoes = []
      silent.requests[index].reply = silent.requests[0].reply
    }
    silent.plan.tries = 1
    var host = try host(silent)
    let first = host.submit(try request("basic", of: silent))
    host.advance(.milliseconds(500))
    #expect(host.error(of: first)?.kind == .timedOut)
    _ = host.takeWritten()
    let again = host.submit(try request("basic", of: silent))
    host.advance(.milliseconds(20))
    #expect(host.takeWritten().count == 1, "what answers the one answers the other")
    host.advance(.milliseconds(500))
    #expect(host.error(of: again)?.kind == .timedOut)
    let next = host.submit(try request("cells", of: silent))
    host.advance(.milliseconds(100))
    #expect(host.takeWritten().isEmpty)
    host.receive(Self.reply + Self.reply)
    #expect(host.results[next] == nil && host.exchange.counters.lateReplies == 2)
    host.advance(.milliseconds(20))
    #expect(host.takeWritten().count == 1)
    host.receive(Self.reply)
    #expect(try host.results[next]?.get() != nil)
  }

  @Test func theFirstRequestIsMadeAgainWhenItIsRefused() throws {
    var forgetful = Samples.jbd
    forgetful.plan.retriesRefused = true
    var host = try host(forgetful)
    let first = host.submit(try request("basic", of: forgetful))
    let refusal = Self.bytes("DD 03 80 00 FF 80 77")
    host.receive(refusal)
    #expect(host.results[first] == nil && host.takeWritten() == [Self.basic, Self.basic])
    host.receive(Self.reply)
    #expect(try host.results[first]?.get() != nil)
    let second = host.submit(try request("basic", of: forgetful))
    host.advance(.milliseconds(20))
    host.receive(refusal)
    #expect(host.error(of: second)?.kind == .refused)
    // Both sendings have been answered, so no other request waits for a late answer.
    for index in forgetful.requests.indices { forgetful.requests[index].echoes = [] }
    host = try self.host(forgetful)
    _ = host.submit(try request("basic", of: forgetful))
    host.receive(refusal)
    host.receive(Self.reply)
    _ = host.takeWritten()
    _ = host.submit(try request("cells", of: forgetful))
    host.advance(.milliseconds(20))
    #expect(host.takeWritten().count == 1)
    // It isn't asked for ever.
    host = try self.host(forgetful)
    let third = host.submit(try request("basic", of: forgetful))
    host.receive(refusal)
    host.receive(refusal)
    #expect(host.error(of: third)?.kind == .refused)
  }

  @Test func anEndFailsEveryRequestAndTheLaterOnes() throws {
    var host = try host(Samples.jbd)
    let ids = try (0..<3).map { _ in host.submit(try request("basic", of: Samples.jbd)) }
    host.end(AccessoryError(.disconnected, "gone"))
    for id in ids { #expect(host.error(of: id)?.kind == .disconnected) }
    #expect(host.exchange.deadline == nil)
    let late = host.submit(try request("basic", of: Samples.jbd))
    #expect(host.error(of: late)?.kind == .disconnected)
  }

  @Test func aSleepingAccessoryIsWokenFirst() throws {
    var sleepy = Samples.jbd
    sleepy.plan.wake = .init([0x0D], pause: 100_000_000)
    var host = ExchangeHost(try DescribedExchange(sleepy, label: "bms"))
    let contact = host.begin()
    let id = host.submit(try request("basic", of: sleepy))
    #expect(host.takeWritten() == [[0x0D]])
    host.advance(.milliseconds(100))
    #expect(host.results[contact] != nil)
    #expect(host.takeWritten() == [Self.basic])
    host.receive(Self.reply)
    #expect(try host.results[id]?.get() != nil)
  }

  // MARK: - Replies of several frames

  private static let counts = bytes("A50194080E0100000200002073")
  private static let cells = [
    "A5019508010EC00EC20EC720D7", "A5019508020EC80EC80EC620E5", "A5019508030EC20EC20E9C20B0",
    "A5019508040EC40EC40EC420DD", "A5019508050EC30EC00EC420D9",
  ].map(bytes)
  private static let volts = [
    3.776, 3.778, 3.783, 3.784, 3.784, 3.782, 3.778, 3.778, 3.740, 3.780, 3.780, 3.780, 3.779, 3.776,
  ]

  @Test(arguments: [[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [0, 0, 1, 2, 2, 3, 4]])
  func fourteenCellsAreReadFromFramesInAnyOrder(order: [Int]) throws {
    var host = try host(Samples.daly)
    host.submit(try request("counts", of: Samples.daly))
    host.receive(Self.counts)
    let id = host.submit(try request("cells", of: Samples.daly))
    for place in order { host.receive(Self.cells[place]) }
    // The fifteenth is padding.
    #expect(try host.results[id]?.get()?["battery.cells"]?.value == .list(Self.volts.map { .number($0) }))
  }

  @Test func aLostPieceIsAskedForAgain() throws {
    var host = try host(Samples.daly)
    host.submit(try request("counts", of: Samples.daly))
    host.receive(Self.counts)
    let id = host.submit(try request("cells", of: Samples.daly))
    for place in [0, 1, 3, 4] { host.receive(Self.cells[place]) }
    #expect(host.results[id] == nil)
    host.advance(.milliseconds(500))
    #expect(host.takeWritten().count == 3, "it is asked again")
    for cell in Self.cells { host.receive(cell) }
    #expect(try host.results[id]?.get() != nil)
  }

  @Test func silenceEndsAReply() throws {
    var silent = Samples.daly
    silent.messages[1].pieces?.count = nil
    silent.messages[1].pieces?.silence = 50_000_000
    var host = try host(silent)
    let id = host.submit(try request("cells", of: silent))
    for cell in Self.cells { host.receive(cell) }
    host.advance(.milliseconds(200))
    guard case .list(let list)? = try host.results[id]?.get()?["battery.cells"]?.value else {
      Issue.record("there are no cells")
      return
    }
    #expect(list.count == 15)
  }

  @Test func pushedMessagesAreEvents() throws {
    var host = try host(Samples.pms5003)
    let frame = try MessageEncoder(DescribedCodec(Samples.pms5003)).frame(0, ["pm2_5": .whole(12)])
    host.receive(frame + [0x42] + frame)
    #expect(host.events.map { $0["pm2_5"]?.value } == [.whole(12), .whole(12)])
  }
}

extension ExchangeHost<DescribedExchange> {
  /// Bytes arrive.
  fileprivate mutating func receive(_ bytes: some Sequence<UInt8>) {
    var batch = FrameBatch<DescribedHeader>()
    exchange.codec.decode(Array(bytes).span.bytes, into: &batch)
    receive(batch)
  }
}
