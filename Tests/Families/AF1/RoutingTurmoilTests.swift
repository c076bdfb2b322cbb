// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// Routing amid clients and accessories that do whatever comes to mind: come, go, send frames in pieces, noise, damage; answer late,
/// twice, wrongly, not at all. Whatever happens, the accessory gets whole frames alone, no client gets another's reply, and
/// what waits is bounded.
@Suite struct RoutingTurmoilTests {
  @Test(arguments: 1...20) func randomClientsOfAF1GetOnlyTheirOwnReplies(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    var harness = RoutingHarness(.af1(label: "gadget"), clients: [])
    var clients: [Int] = []
    var nextClient = 1
    var accessory = AF1Codec(maximumPayload: 65_535)
    var unanswered: [(AF1Header, [UInt8])] = []
    var codecs: [Int: AF1Codec] = [:]
    for step in 0..<2_000 {
      switch Int.random(in: 0..<20, using: &dice) {
      case 0 where clients.count < 8:
        harness.come(nextClient)
        codecs[nextClient] = AF1Codec(maximumPayload: 65_535)
        clients.append(nextClient)
        nextClient += 1
      case 1 where clients.count > 4:
        harness.leave(clients.remove(at: Int.random(in: clients.indices, using: &dice)))
      case 2: harness.advance(.milliseconds(Int.random(in: 0..<900, using: &dice)))
      case 3: harness.isBlocked.toggle()
      case 4...12:
        guard let client = clients.randomElement(using: &dice), harness.mayTake(from: client) else { continue }
        harness.send(made(client, step, &dice), from: client)
      default:
        guard !unanswered.isEmpty else { continue }
        let (header, payload) = unanswered.remove(at: Int.random(in: unanswered.indices, using: &dice))
        harness.answer(answered(header, payload, &dice))
        if Int.random(in: 0..<10, using: &dice) == 0 { unanswered.append((header, payload)) }
      }
      var batch = FrameBatch<AF1Header>()
      for message in harness.takeSent() { accessory.decode(message.span.bytes, into: &batch) }
      #expect(!accessory.hasUnfinishedFrame && accessory.counters.skippedBytes == 0)
      for index in 0..<batch.count { unanswered.append((batch.header(at: index), batch.payloadBytes(at: index))) }
      if unanswered.count > 50 { unanswered.removeFirst(25) }
      for client in clients { expectOwn(harness.take(client), client, &codecs[client]!) }
    }
    let statistics = harness.statistics
    #expect(statistics.requests > 50 && statistics.replies > 10)
  }

  /// What a client sends: a request, perhaps damaged or in part; or noise.
  private func made(_ client: Int, _ step: Int, _ dice: inout SeededGenerator) -> [UInt8] {
    let number = UInt16.random(in: 0..<8, using: &dice)
    let commands: [AF1Command] = [.echo, .hello, AF1Command(rawValue: 0x41)]
    let command = commands.randomElement(using: &dice) ?? .echo
    var payload = [UInt8(client), UInt8(truncatingIfNeeded: step), UInt8(truncatingIfNeeded: step >> 8), 0]
    if command == .hello { payload = [UInt8(client), UInt8.random(in: 0..<3, using: &dice), 0, 0] }
    var bytes = AF1Harness.frame(.request(command, number: number), payload)
    switch Int.random(in: 0..<12, using: &dice) {
    case 0: bytes[Int.random(in: bytes.indices, using: &dice)] ^= 0x10
    case 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &dice))
    case 2: bytes = (0..<20).map { _ in UInt8.random(in: 0...255, using: &dice) }
    case 3: bytes += bytes
    default: break
    }
    return bytes
  }

  private func answered(_ header: AF1Header, _ payload: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
    if header.command == .hello {
      var reply: [UInt8] = []
      AF1HelloReply(bootID: 7, largestPayload: 256, window: 3).encode(into: &reply)
      return AF1Harness.frame(.reply(to: header), reply)
    }
    switch Int.random(in: 0..<12, using: &dice) {
    case 0: return AF1Harness.frame(.refusal(of: header), [5])
    case 1: return AF1Harness.frame(.event(.battery, number: UInt16.random(in: 0...9, using: &dice)), [2])
    case 2:
      var damaged = AF1Harness.frame(.reply(to: header), payload)
      damaged[11] ^= 1
      return damaged
    default: return AF1Harness.frame(.reply(to: header), payload)
    }
  }

  /// Whatever comes to a client is whole, and every reply that carries a client's number carries this one's.
  private func expectOwn(_ bytes: [UInt8], _ client: Int, _ codec: inout AF1Codec) {
    var batch = FrameBatch<AF1Header>()
    codec.decode(bytes.span.bytes, into: &batch)
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 0)
    for index in 0..<batch.count {
      let header = batch.header(at: index)
      guard header.flags == .reply, header.command != .hello else { continue }
      #expect(batch.payloadBytes(at: index).first == UInt8(client))
    }
  }

  @Test(arguments: 1...10) func randomClientsOfADescriptionSendOnlyWholeFrames(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    var harness = RoutingHarness(
      try #require(try .described(Samples.jbd, label: "bms", allowsWrites: seed.isMultiple(of: 2))))
    let requests: [[UInt8]] = [
      [0xDD, 0xA5, 3, 0, 0xFF, 0xFD, 0x77], [0xDD, 0xA5, 4, 0, 0xFF, 0xFC, 0x77], [0xDD, 0xA5, 5, 0, 0xFF, 0xFB, 0x77],
    ]
    var last: UInt8 = 0
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<6, using: &dice) {
      case 0, 1:
        var bytes = requests.randomElement(using: &dice) ?? []
        if Int.random(in: 0..<6, using: &dice) == 0 { bytes[Int.random(in: 0..<7, using: &dice)] ^= 1 }
        let client = Int.random(in: 1...3, using: &dice)
        if harness.mayTake(from: client) { harness.send(bytes, from: client) }
      case 2: harness.advance(.milliseconds(Int.random(in: 0..<400, using: &dice)))
      case 3: harness.answer((0..<9).map { _ in UInt8.random(in: 0...255, using: &dice) })
      default: if last != 0 { harness.answer([0xDD, last, 0, 0, 0, 0, 0x77]) }
      }
      for message in harness.takeSent() {
        // Nothing but a whole frame.
        #expect(message.count >= 7 && message.first == 0xDD && message.last == 0x77)
        last = message[2]
      }
      for client in 1...3 { _ = harness.take(client) }
    }
    #expect(harness.statistics.requests > 50)
  }
}
