// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

/// Requests and replies of Modbus, of which no reply says what it answers.
@Suite struct ModbusExchangeTests {
  private static let battery = hex("0104331A00039E88")
  private static let state = hex("010432000003BEB3")
  private static let batteryReply = hex("01040604FCFFFDFFFF9157")
  private static let stateReply = hex("010406000000010001F093")

  private static func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  private func host(
    wire: ModbusWire = .serial, timing: LineTiming = .instant
  ) throws -> ExchangeHost<DescribedExchange> {
    var host = ExchangeHost(try DescribedExchange(Samples.charger, label: "charger", wire: wire), timing: timing)
    host.begin()
    return host
  }

  private func request(_ name: String) throws -> DescribedRequest {
    let index = try #require(Samples.charger.request(named: name))
    return try DescribedRequest(index, of: Samples.charger, by: RequestEncoder(DescribedCodec(Samples.charger)))
  }

  @Test func aReplyBehindAnEchoIsFound() throws {
    var host = try host()
    let id = host.submit(try request("battery"))
    #expect(host.takeWritten() == [Self.battery])
    host.deliver(Self.battery + Self.batteryReply.prefix(4))
    #expect(host.reply(to: id) == nil)
    host.deliver(Array(Self.batteryReply.dropFirst(4)))
    #expect(host.reply(to: id)??["battery.current"]?.value == .number(-0.03))
    #expect(host.exchange.codec.counters.skippedBytes == 0, "an echo isn't noise")
    #expect(host.exchange.counters.lateReplies == 0)
  }

  @Test func anExceptionRefusesTheRequest() throws {
    var host = try host()
    let id = host.submit(try request("battery"))
    host.deliver(Self.hex("018402C2C1"))
    #expect(host.error(of: id)?.kind == .refused)
    #expect(host.error(of: id)?.message == "charger refuses battery: it has no such registers")
    #expect(host.error(of: id)?.code == .refusal(2))
  }

  /// Both replies have the same form: what answers the first must not be taken for what answers the second.
  @Test func theNextRequestWaitsUntilALateReplyCanComeNoMore() throws {
    var host = try host()
    let first = host.submit(try request("battery"))
    let second = host.submit(try request("state"))
    // The third try isn't answered after half a second: it is given up.
    host.advance(.milliseconds(1_500))
    #expect(host.error(of: first)?.kind == .timedOut)
    #expect(host.takeWritten() == [Self.battery, Self.battery, Self.battery])
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: second) == nil && host.exchange.counters.lateReplies == 1)
    host.advance(.milliseconds(499))
    #expect(host.takeWritten().isEmpty, "two more may come")
    host.advance(.milliseconds(1))
    #expect(host.takeWritten() == [Self.state])
  }

  @Test func whenAllLateRepliesHaveComeNobodyWaits() throws {
    var host = try host()
    let first = host.submit(try request("battery"))
    let second = host.submit(try request("state"))
    host.advance(.milliseconds(600))
    // The first try is answered late, and that answers the second as well.
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: first) != nil)
    #expect(host.takeWritten() == [Self.battery, Self.battery], "an answer to the second try may come")
    host.deliver(Self.batteryReply)
    host.advance(.zero)
    #expect(host.takeWritten() == [Self.state])
    #expect(host.reply(to: second) == nil)
    host.deliver(Self.stateReply)
    #expect(host.reply(to: second)??["charging"]?.value == .whole(1))
  }

  /// A charger that takes longer than it is waited for: what answers the second try comes as late, behind the time limit.
  @Test func theSecondReplyMayComeAsLate() throws {
    var host = try host()
    let first = host.submit(try request("battery"))
    let second = host.submit(try request("state"))
    host.advance(.milliseconds(700))
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: first) != nil)
    #expect(host.takeWritten() == [Self.battery, Self.battery])
    host.advance(.milliseconds(490))
    #expect(host.takeWritten().isEmpty, "the second try was sent at 500 ms, and may be answered at 1.2 s")
    host.advance(.milliseconds(10))
    host.deliver(Self.batteryReply)
    host.advance(.zero)
    #expect(host.takeWritten() == [Self.state] && host.exchange.counters.lateReplies == 1)
    host.deliver(Self.stateReply)
    #expect(host.reply(to: second)??["charging"]?.value == .whole(1))
  }

  /// What is of another function, or the same request again, needs no waiting.
  @Test(arguments: ["parts", "battery", "night"]) func unmistakableRequestsAreSentAtOnce(name: String) throws {
    var host = try host()
    host.submit(try request("battery"))
    host.advance(.milliseconds(1_500))
    _ = host.takeWritten()
    host.submit(try request(name))
    #expect(host.takeWritten().count == 1)
  }

  @Test func requestsWaitForTheSilenceBetweenFrames() throws {
    // At 9600 baud 3.5 characters are 3.65 ms.
    var host = try host(timing: .serial(baudRate: 9_600))
    let first = host.submit(try request("battery"))
    host.submit(try request("state"))
    _ = host.takeWritten()
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: first) != nil)
    host.advance(.microseconds(3_600))
    #expect(host.takeWritten().isEmpty)
    host.advance(.microseconds(100))
    #expect(host.takeWritten() == [Self.state])
  }

  @Test func aDamagedReplyIsAskedForAgain() throws {
    var host = try host()
    let id = host.submit(try request("battery"))
    var damaged = Self.batteryReply
    damaged[5] ^= 0x10
    host.deliver([0x00] + damaged)
    #expect(host.reply(to: id) == nil)
    host.advance(.milliseconds(500))
    #expect(host.takeWritten() == [Self.battery, Self.battery])
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: id)??["battery.voltage"]?.value == .number(12.76))
    #expect(host.exchange.codec.counters.payloadErrors == 1)
  }

  @Test func aCancelledModbusRequestStillTakesItsReply() throws {
    var host = try host()
    let first = host.submit(try request("battery"))
    let second = host.submit(try request("state"))
    host.cancel(first)
    host.deliver(Self.batteryReply)
    #expect(host.reply(to: second) == nil && host.takeWritten() == [Self.battery, Self.state])
    host.deliver(Self.stateReply)
    #expect(host.reply(to: second)??["charging"]?.value == .whole(1))
  }

  // MARK: - Networks

  @Test func repliesByNetworkAreMatchedByNumber() throws {
    var host = try host(wire: .network)
    let first = host.submit(try request("battery"))
    #expect(host.takeWritten() == [Self.hex("0001000000060104331A0003")])
    host.advance(.seconds(10))
    #expect(host.error(of: first)?.kind == .timedOut)
    _ = host.takeWritten()
    let second = host.submit(try request("state"))
    #expect(host.takeWritten() == [Self.hex("000200000006010432000003")], "nobody waits for a late answer")
    host.deliver(Self.hex("00010000000901040604FCFFFDFFFF"))
    #expect(host.reply(to: second) == nil && host.exchange.counters.lateReplies == 1)
    host.deliver(Self.hex("000200000009010406000000010001"))
    #expect(host.reply(to: second)??["charging"]?.value == .whole(1))
  }

  @Test func aNetworksExceptionRefusesTheRequest() throws {
    var host = try host(wire: .network)
    let id = host.submit(try request("battery"))
    host.deliver(Self.hex("000100000003018406"))
    #expect(host.error(of: id)?.message == "charger refuses battery: it is busy")
  }
}
