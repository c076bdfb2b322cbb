// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import FamilyMAVLink
import TestSupport
import Testing

/// An autopilot at the other end of an exchange, as the test says.
private struct Bench {
  var host = ExchangeHost(MAVLinkExchange(label: "drone"))
  var version: MAVLinkVersion
  var sequence: UInt8 = 0
  var opening = RequestID(rawValue: 0)

  static let heartbeat = MAVLinkMessage.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 3))

  init(_ version: MAVLinkVersion = .two) {
    self.version = version
    opening = host.begin()
  }

  /// One that has been heard, and listened to long enough.
  static func ready(_ version: MAVLinkVersion = .two) -> Bench {
    var bench = Bench(version)
    bench.say(heartbeat)
    bench.host.advance(.seconds(2))
    return bench
  }

  mutating func say(_ message: MAVLinkMessage, system: UInt8 = 1, component: UInt8 = 1) {
    host.deliver(message.frame(version, sequence: sequence, system: system, component: component))
    if system == 1, component == 1 { sequence &+= 1 }
  }

  mutating func acknowledge(
    _ command: UInt16, _ result: MAVLinkAcknowledgement.Result, system: UInt8 = 1, component: UInt8 = 191
  ) {
    say(.acknowledgement(MAVLinkAcknowledgement(command, result, system: system, component: component)))
  }

  /// What was sent since the last call.
  mutating func sent() -> [(header: MAVLinkHeader, message: MAVLinkMessage)] {
    var codec = MAVLinkCodec()
    var batch = FrameBatch<MAVLinkHeader>()
    for bytes in host.takeWritten() { codec.decode(bytes.span.bytes, into: &batch) }
    return (0..<batch.count).compactMap { index in
      let header = batch.header(at: index)
      return batch.withPayload(at: index) { MAVLinkMessage(header.message, payload: $0) }.map { (header, $0) }
    }
  }

  /// The commands among it: number, first parameter, confirmation.
  mutating func commands() -> [[Int]] {
    sent().compactMap {
      guard case .command(let command) = $0.message else { return nil }
      return [Int(command.command), Int(command.parameters[0]), Int(command.confirmation)]
    }
  }
}

private let battery = MAVLinkMessage.batteryStatus(MAVLinkBatteryStatus(id: 0))

@Suite struct MAVLinkExchangeTests {
  // MARK: - Contact

  @Test func anAutopilotIsHeard() {
    var bench = Bench()
    bench.host.advance(.seconds(1))
    #expect(bench.host.results.isEmpty)
    bench.say(Bench.heartbeat)
    #expect(bench.host.reply(to: bench.opening) == Bench.heartbeat)
    #expect(bench.host.exchange.autopilot?.system == 1 && bench.host.exchange.autopilot?.version == .two)
    // Nothing was sent, nothing will be, and nothing waits for time.
    bench.host.advance(.seconds(3_600))
    #expect(bench.sent().isEmpty && bench.host.exchange.deadline == nil)
  }

  /// Gimbals, ground stations and their like are not taken for it.
  @Test func othersAreNotTakenForIt() {
    var bench = Bench()
    bench.say(.heartbeat(MAVLinkHeartbeat(type: 26, autopilot: 8, state: 4)), component: 154)
    bench.say(.heartbeat(MAVLinkHeartbeat(type: 6, autopilot: 8, state: 4)), system: 255, component: 190)
    bench.say(.heartbeat(MAVLinkHeartbeat(type: 30, autopilot: 8, state: 4)), component: 1)
    bench.say(.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 4)), system: 0)
    bench.say(battery)
    #expect(bench.host.results.isEmpty && bench.host.exchange.counters.unexpected == 5)
    bench.host.advance(.seconds(8))
    let error = bench.host.error(of: bench.opening)
    #expect(error?.kind == .timedOut && error?.message.contains("no heartbeat of an autopilot") == true)
  }

  /// On a silent line heartbeats are sent, in each version by turns, as an onboard computer; and given up in the end.
  @Test func onASilentLineHeartbeatsAreSent() {
    var bench = Bench()
    bench.host.advance(.milliseconds(2_400))
    #expect(bench.sent().isEmpty)
    bench.host.advance(.milliseconds(2_200))
    let sent = bench.sent()
    #expect(sent.map(\.header.version) == [.two, .one, .two])
    #expect(sent.allSatisfy { $0.header.system == 1 && $0.header.component == 191 })
    for heartbeat in sent {
      guard case .heartbeat(let beat) = heartbeat.message else { continue }
      #expect(beat.type == 18 && beat.autopilot == 8 && beat.mode == [])
    }
    bench.host.advance(.seconds(4))
    #expect(bench.host.error(of: bench.opening)?.message.contains("sends no MAVLink messages") == true)
    #expect(bench.host.exchange.deadline == nil)
  }

  /// One that spoke only when it heard us goes on hearing us, in its version and from its system.
  @Test func anAutopilotThatNeedsHeartbeatsGoesOnGettingThem() {
    var bench = Bench(.one)
    bench.host.advance(.seconds(3))
    _ = bench.host.takeWritten()
    bench.host.deliver(
      MAVLinkMessage.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 3)).frame(
        .one, sequence: 0, system: 9, component: 1))
    #expect(bench.host.reply(to: bench.opening) != nil)
    bench.host.advance(.seconds(3))
    let sent = bench.sent()
    #expect(sent.count == 3 && sent.allSatisfy { $0.header.version == .one && $0.header.system == 9 })
    #expect(sent.map(\.header.sequence) == [1, 2, 3])
  }

  // MARK: - Messages

  /// What comes by itself isn't asked for.
  @Test func aMessageThatComesByItselfIsNotRequested() {
    var bench = Bench()
    bench.say(Bench.heartbeat)
    let id = bench.host.submit(MAVLinkRequest(147))
    bench.host.advance(.seconds(1))
    #expect(bench.host.results[id] == nil)
    bench.say(battery)
    #expect(bench.host.reply(to: id) == battery && bench.host.events.contains(battery))
    bench.host.advance(.seconds(10))
    #expect(bench.sent().isEmpty)
  }

  @Test(arguments: [MAVLinkVersion.one, .two]) func aRequestedMessageIsTheReply(version: MAVLinkVersion) throws {
    var bench = Bench.ready(version)
    let id = bench.host.submit(MAVLinkRequest(147))
    let sent = try #require(bench.sent().first)
    #expect(sent.header.version == version && sent.header.system == 1 && sent.header.component == 191)
    #expect(sent.message == .command(MAVLinkCommand(512, [147], system: 1, component: 1)))
    bench.acknowledge(512, .accepted)
    #expect(bench.host.results[id] == nil)
    bench.say(.systemStatus(MAVLinkSystemStatus()))
    bench.say(battery)
    #expect(bench.host.reply(to: id) == battery)
    #expect(bench.host.exchange.deadline == nil && !bench.host.exchange.isKeptAlive)
  }

  /// Without an answer it is asked again, with heartbeats, since some speak only with who is there.
  @Test func aRequestWithoutAnswerIsSentThreeTimes() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(148))
    bench.host.advance(.milliseconds(1_500))
    #expect(bench.host.exchange.isKeptAlive)
    bench.host.advance(.milliseconds(800))
    #expect(bench.host.error(of: id)?.message == "drone does not answer: it was asked for AUTOPILOT_VERSION 3 times")
    #expect(bench.host.error(of: id)?.kind == .timedOut)
    let sent = bench.sent()
    let numbers = sent.map(\.message.number)
    #expect(numbers == [76, 0, 76, 76, 0])
    #expect(sent.map(\.header.sequence) == [0, 1, 2, 3, 4])
    let confirmations = sent.compactMap { sent in
      if case .command(let command) = sent.message { command.confirmation } else { nil }
    }
    #expect(confirmations == [0, 1, 2])
    #expect(bench.host.exchange.counters.timeouts == 3 && bench.host.exchange.counters.retries == 2)
  }

  /// It said that it would, and doesn't.
  @Test func anAcceptedRequestWithoutMessageFails() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(148))
    bench.acknowledge(512, .accepted)
    bench.host.advance(.seconds(5))
    #expect(bench.host.error(of: id)?.message.contains("accepted the request for") == true)
  }

  /// One that doesn't know how to send a message once is asked for it again and again, where that may be.
  @Test func anUnsupportedRequestIsMadeAsARepeatedOne() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(147, mayRepeat: true))
    bench.acknowledge(512, .unsupported)
    #expect(bench.commands() == [[512, 147, 0], [511, 147, 0]])
    bench.acknowledge(511, .accepted)
    bench.host.advance(.seconds(1))
    bench.say(battery)
    #expect(bench.host.reply(to: id) == battery)
    let other = bench.host.submit(MAVLinkRequest(148))
    bench.acknowledge(512, .denied)
    #expect(bench.commands() == [[512, 148, 0]])
    #expect(bench.host.error(of: other)?.kind == .refused)
    #expect(bench.host.error(of: other)?.message == "drone does not send AUTOPILOT_VERSION: denied")
    #expect(bench.host.error(of: other)?.code == .refusal(2))
  }

  @Test func twoRefusalsFailARequest() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(147, mayRepeat: true))
    bench.acknowledge(512, .failed)
    bench.acknowledge(511, .failed)
    #expect(bench.host.error(of: id)?.kind == .refused && bench.host.exchange.counters.refusals == 2)
  }

  /// What others were answered isn't for us; what comes late does no harm.
  @Test func answersForOthersAreIgnored() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(147))
    bench.acknowledge(512, .denied, system: 255, component: 190)
    bench.acknowledge(400, .denied)
    bench.acknowledge(512, .temporarilyRejected)
    bench.acknowledge(512, .inProgress)
    #expect(bench.host.results[id] == nil && bench.host.exchange.counters.lateReplies == 1)
    bench.say(battery, system: 2)
    bench.say(battery, component: 2)
    #expect(bench.host.results[id] == nil)
    bench.say(battery)
    bench.acknowledge(512, .accepted)
    #expect(bench.host.reply(to: id) == battery && bench.host.exchange.counters.lateReplies == 2)
  }

  /// One after another, also when one is given up.
  @Test func requestsAreSentOneAfterAnother() {
    var bench = Bench.ready()
    let first = bench.host.submit(MAVLinkRequest(147))
    let second = bench.host.submit(MAVLinkRequest(148))
    let third = bench.host.submit(MAVLinkRequest(1))
    #expect(bench.commands() == [[512, 147, 0]])
    bench.host.cancel(third)
    bench.host.cancel(first)
    #expect(bench.host.error(of: first)?.kind == .cancelled && bench.host.error(of: third)?.kind == .cancelled)
    #expect(bench.commands() == [[512, 148, 0]])
    bench.host.end(AccessoryError(.disconnected, "gone"))
    #expect(bench.host.error(of: second)?.kind == .disconnected)
    let late = bench.host.submit(MAVLinkRequest(1))
    #expect(bench.host.error(of: late)?.kind == .disconnected)
    #expect(bench.host.completed.count == Set(bench.host.completed).count)
  }

  @Test func theQueueOfMAVLinkRequestsIsBounded() {
    var bench = Bench.ready()
    let ids = (0..<70).map { _ in bench.host.submit(MAVLinkRequest(147)) }
    #expect(ids.count { bench.host.error(of: $0)?.kind == .busy } == 5)
  }

  /// While the transport takes nothing, nothing piles up.
  @Test func nothingIsSentWhileTheLineIsStalled() {
    var bench = Bench.ready()
    bench.host.block()
    let id = bench.host.submit(MAVLinkRequest(147))
    bench.host.advance(.seconds(60))
    #expect(bench.host.takeWritten().isEmpty && bench.host.error(of: id)?.kind == .timedOut)
  }

  /// A message behind the beginning of a frame that never came to its end is found when the time is over.
  @Test func aMessageBehindAnUnfinishedFrameIsFound() {
    var bench = Bench.ready()
    let id = bench.host.submit(MAVLinkRequest(147))
    bench.host.deliver([0xFD, 200, 0, 0, 1, 1, 1, 147, 0, 0])
    bench.say(battery)
    #expect(bench.host.results[id] == nil)
    bench.host.advance(.milliseconds(700))
    #expect(bench.host.reply(to: id) == battery)
  }

  @Test func lostFramesAreCounted() {
    var bench = Bench.ready()
    bench.sequence &+= 3
    bench.say(Bench.heartbeat)
    #expect(bench.host.exchange.counters.gaps == 3)
    // After a restart its numbers begin anew.
    bench.sequence = 0
    bench.say(Bench.heartbeat)
    #expect(bench.host.exchange.counters.gaps == 3)
  }

  /// An autopilot may change its version, as many do when they hear the other.
  @Test func theVersionFollowsTheAutopilots() {
    var bench = Bench.ready(.one)
    bench.version = .two
    bench.say(Bench.heartbeat)
    bench.host.submit(MAVLinkRequest(147))
    #expect(bench.sent().map(\.header.version) == [.two])
  }
}
