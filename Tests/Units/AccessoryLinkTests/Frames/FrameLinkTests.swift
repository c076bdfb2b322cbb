// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

/// Links over any framing, with the test as the accessory and the clock.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct FrameLinkTests {
  private let clock = ManualClock()

  /// An accessory that says yes to all but `silence`, `refuse` and what it can't read.
  private func transport<Dialect: FrameDialect>(_ dialect: Dialect.Type) -> MemoryTransport {
    let codec = Watched(Dialect.codec())
    return MemoryTransport(label: "gadget") { transport, bytes in
      let arrived = codec.update { codec in
        var batch = FrameBatch<Dialect.Codec.Header>()
        codec.decode(bytes.span.bytes, into: &batch)
        return (0..<batch.count).compactMap {
          Dialect.said(Frame(batch.header(at: $0), payload: batch.payloadBytes(at: $0)))
        }
      }
      for said in arrived where said.topic != "silence" {
        let kind: Character = said.topic == "refuse" ? "!" : "="
        transport.receive(Dialect.encoded(Said(kind, said.number, said.text + " yes")))
      }
    }
  }

  private func open<Dialect: FrameDialect>(
    _ dialect: Dialect.Type, _ transport: MemoryTransport, isNumbered: Bool = false, opening: String? = nil,
    window: Int = 1
  ) async throws -> Link<FrameExchange<Dialect.Codec>> {
    var options = FrameExchange<Dialect.Codec>.Options()
    options.pacing = .window(window)
    options.queueLimit = 1_000
    let rules = Dialect.exchange(
      options, isNumbered: isNumbered, opening: opening.map { Dialect.request($0) })
    return try await Link.open(AccessorySession(transport), rules: rules, clock: clock)
  }

  @Test func aLinkAsksAndTells() async throws {
    try await check(BinaryDialect.self)
    try await check(LineDialect.self)
    func check<Dialect: FrameDialect>(_ dialect: Dialect.Type) async throws {
      let link = try await open(dialect, transport(dialect), opening: "hello")
      let reply = try await link.ask(Dialect.request("battery"))
      #expect(Dialect.said(reply) == Said("=", 0, "battery yes"))
      let refusal = await #expect(throws: AccessoryError.self) { try await link.ask(Dialect.request("refuse")) }
      #expect(refusal?.kind == .refused)
      try await link.tell(Dialect.frame(Said("?", 0, "silence")), name: "SILENCE")
      let written = link.statistics.link.requests
      let wrong = await #expect(throws: AccessoryError.self) {
        try await link.ask(Dialect.request("battery", isAnswered: false))
      }
      #expect(wrong?.kind == .misconfigured && link.statistics.link.requests == written)
      await link.close()
    }
  }

  @Test func manyQuestionsAtOnceGetTheirOwnReplies() async throws {
    let link = try await open(LineDialect.self, transport(LineDialect.self), isNumbered: true, window: 8)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          let reply = try await link.ask(LineDialect.request("number \(number)"))
          return LineDialect.said(reply)?.text == "number \(number) yes"
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(link.statistics.link.events == 0)
    await link.close()
  }

  @Test func unpluggingFailsEveryQuestionAndTheEvents() async throws {
    let transport = transport(BinaryDialect.self)
    let link = try await open(BinaryDialect.self, transport)
    let asking = (0..<5).map { _ in Task { try await link.ask(BinaryDialect.request("silence")) } }
    let events = link.events()
    _ = try await transport.nextWritten(1)
    transport.unplug()
    for task in asking {
      await #expect(throws: AccessoryError.disconnected("gadget")) { try await task.value }
    }
    await #expect(throws: AccessoryError.disconnected("gadget")) { for try await _ in events {} }
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await link.ask(BinaryDialect.request("a")) }
  }

  @Test func openingALinkWithoutAnswerFails() async throws {
    let transport = transport(BinaryDialect.self)
    let opening = Task { try await open(BinaryDialect.self, transport, opening: "silence") }
    for _ in 0..<3 {
      _ = try await transport.nextWritten(BinaryDialect.encoded(Said("?", 0, "silence")).count)
      try await clock.waitForPending()
      clock.advanceToNext()
    }
    let error = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(error == AccessoryError(.timedOut, "gadget does not answer SILENCE, which was sent 3 times"))
    #expect(transport.closeCount >= 1)
  }

  /// A task that is cancelled is free at once; without numbers the line isn't, before the reply is there.
  @Test func aCancelledQuestionHoldsTheLineUntilItsReply() async throws {
    let transport = transport(BinaryDialect.self)
    let link = try await open(BinaryDialect.self, transport)
    let stuck = Task { try await link.ask(BinaryDialect.request("silence")) }
    _ = try await transport.nextWritten(1)
    let next = Task { try await link.ask(BinaryDialect.request("battery")) }
    stuck.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await stuck.value }
    #expect(error?.kind == .cancelled)
    transport.receive(BinaryDialect.encoded(Said("=", 0, "silence after all")))
    #expect(BinaryDialect.said(try await next.value)?.text == "battery yes")
    #expect(link.statistics.link.lateReplies == 1)
    await link.close()
  }

  @Test func anImpossibleFormatIsMisconfigured() {
    let format = HeaderFormat(sync: [], headerByteCount: 3, length: .init(offset: 1, byteCount: 1))
    let error = #expect(throws: AccessoryError.self) {
      _ = try FrameExchange(format, maximumPayload: 8, label: "gadget") { _, _ in .reply }
    }
    #expect(error?.kind == .misconfigured)
  }
}
