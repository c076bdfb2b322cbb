// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// An AF1 accessory at the other end of a `MemoryTransport`, whose answers the test decides.
final class PretendedAccessory: Sendable {
  typealias Answer = @Sendable (AF1Header, [UInt8]) -> (AF1Header, [UInt8])?

  let transport: MemoryTransport
  /// Requests without HELLO.
  let requests: Watched<[AF1Header]>

  init(timing: LineTiming = .instant, line: MemoryLine? = nil, answer: @escaping Answer = { (.reply(to: $0), $1) }) {
    let codec = Locked(AF1Codec(maximumPayload: 65_535))
    let requests = Watched<[AF1Header]>([])
    self.requests = requests
    transport = MemoryTransport(label: "gadget", timing: timing, line: line) { transport, bytes in
      var batch = FrameBatch<AF1Header>()
      codec.withLock { $0.decode(bytes.span.bytes, into: &batch) }
      for index in 0..<batch.count {
        let header = batch.header(at: index)
        if header.command == .hello {
          let hello = AF1HelloReply(bootID: 7, largestPayload: 4_096, window: 1)
          transport.receive(Self.frame(.reply(to: header), (try? hello.encoded()) ?? []))
          continue
        }
        requests.update { $0.append(header) }
        if let (header, payload) = answer(header, batch.payloadBytes(at: index)) {
          transport.receive(Self.frame(header, payload))
        }
      }
    }
  }

  static func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &frame)
    return frame
  }

  func link(
    clock: any TimerClock = ManualClock(), options: AF1Exchange.Options = .init()
  ) async throws -> Link<AF1Exchange> {
    let rules = AF1Exchange(label: "gadget", options: options)
    return try await Link.open(AccessorySession(transport), rules: rules, clock: clock)
  }
}

@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct LinkTests {
  @Test func aRequestGetsItsReply() async throws {
    let link = try await PretendedAccessory().link()
    for length in [0, 1, 100, 4_096] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      #expect(try await link.request(AF1Request(.echo, payload: bytes)).payload == bytes)
    }
    #expect(link.statistics.link.replies == 5)
    #expect(link.statistics.frames.frames == 5)
  }

  @Test func manyCallersEachGetTheirOwnReply() async throws {
    var options = AF1Exchange.Options()
    options.queueLimit = 1_000
    let link = try await PretendedAccessory().link(options: options)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<500 {
        group.addTask {
          let bytes = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
          return try await link.request(AF1Request(.echo, payload: bytes)).payload == bytes
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test func silenceIsWaitedForOnTheClockAndThenFails() async throws {
    let accessory = PretendedAccessory { _, _ in nil }
    let clock = ManualClock()
    let link = try await accessory.link(clock: clock)
    let start = clock.now
    let request = Task { try await link.request(AF1Request(.echo, largestReply: 0)) }
    for count in 1...3 {
      try await accessory.requests.wait { $0.count == count }
      // The time limit may be set after the bytes have arrived.
      try await clock.waitForPending(during: request)
      clock.advanceToNext()
      #expect(clock.now == start + .milliseconds(500) * count)
    }
    let error = await #expect(throws: AccessoryError.self) { try await request.value }
    #expect(error?.kind == .timedOut)
    #expect(link.statistics.link.timeouts == 3)
  }

  /// A line that is no terminal, behind a tap: what is asked after a change goes by the new speed.
  @Test func timeLimitsFollowTheSpeedOfTheLine() async throws {
    let accessory = PretendedAccessory(line: MemoryLine(LineStatus(baudRate: 9_600))) { _, _ in nil }
    let clock = ManualClock()
    let session = AccessorySession(TappedTransport(accessory.transport, tap: TraceTap(clock: clock)))
    let link = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: clock)
    let line = try #require(session.line)
    #expect(session.transport.timing == .serial(baudRate: 9_600))
    #expect(try await line.change(.init(baudRate: 300, stopBits: 2)).baudRate == 300)
    #expect(session.transport.timing == .serial(baudRate: 300, bits: 11))
    // Its frame and the largest reply allowed for it, (14 + 2) + (14 + 2) bytes of 11 bits.
    let wire = LineTiming.serial(baudRate: 300, bits: 11).time(of: 32)
    #expect(wire > .milliseconds(1_173) && wire < .milliseconds(1_174))
    let echo = AF1Request(.echo, payload: [1, 2], isIdempotent: false, largestReply: 2)
    let request = Task { try await link.request(echo) }
    try await accessory.requests.wait { $0.count == 1 }
    try await clock.waitForPending(during: request)
    #expect(link.exchange.deadline == clock.now + .milliseconds(500) + wire)
    await link.close()
    let error = await #expect(throws: AccessoryError.self) { try await request.value }
    #expect(error?.kind == .cancelled)
    let later = await #expect(throws: AccessoryError.self) { try await line.status() }
    #expect(later == .closed("gadget"))
  }

  @Test func aFrameBehindAnUnfinishedOneIsDeliveredAfterSilence() async throws {
    let accessory = PretendedAccessory()
    let clock = ManualClock()
    let link = try await accessory.link(clock: clock)
    var events = link.events().makeAsyncIterator()
    let lost = PretendedAccessory.frame(.event(.status, number: 1), [UInt8](repeating: 9, count: 500))
    let whole = PretendedAccessory.frame(.event(.battery, number: 2), [3])
    let scheduled = clock.scheduledCount
    accessory.transport.receive(Array(lost[..<12]) + whole)
    try await clock.waitForSchedule(after: scheduled)
    clock.advance(by: .milliseconds(50))
    #expect(try await events.next()?.number == 2)
    // What was unfinished was kept: its rest makes it whole after all, and nothing is delivered twice.
    #expect(link.statistics.frames.frames == 2)
  }

  @Test func whenTheAccessoryGoesEverybodyIsToldTheSameAtOnce() async throws {
    let accessory = PretendedAccessory { _, _ in nil }
    let link = try await accessory.link()
    let requests = (0..<10).map { _ in Task { try await link.request(AF1Request(.battery)) } }
    let events = link.events()
    try await accessory.requests.wait { $0.count == 1 }
    accessory.transport.unplug()
    for request in requests {
      await #expect(throws: AccessoryError.disconnected("gadget")) { try await request.value }
    }
    await #expect(throws: AccessoryError.disconnected("gadget")) { for try await _ in events {} }
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await link.request(AF1Request(.battery)) }
    await #expect(throws: AccessoryError.disconnected("gadget")) { for try await _ in link.events() {} }
  }

  @Test func closingCancelsRequestsAndEndsEventsNormally() async throws {
    let accessory = PretendedAccessory { _, _ in nil }
    let link = try await accessory.link()
    let request = Task { try await link.request(AF1Request(.battery)) }
    let events = link.events()
    try await accessory.requests.wait { $0.count == 1 }
    await link.close()
    await link.close()
    await #expect(throws: AccessoryError.closed("gadget")) { try await request.value }
    for try await _ in events {}
    #expect(accessory.transport.closeCount >= 1)
  }

  @Test func cancellingATaskFreesTheSlotForTheNext() async throws {
    let accessory = PretendedAccessory { header, payload in
      header.command == .battery ? nil : (.reply(to: header), payload)
    }
    let link = try await accessory.link()
    let stuck = Task { try await link.request(AF1Request(.battery)) }
    try await accessory.requests.wait { $0.count == 1 }
    let next = Task { try await link.request(AF1Request(.echo, payload: [5])) }
    stuck.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await stuck.value }
    #expect(error?.kind == .cancelled)
    #expect(try await next.value.payload == [5])
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await link.request(AF1Request(.echo))
    }
    let lateError = await #expect(throws: AccessoryError.self) { try await late.value }
    #expect(lateError?.kind == .cancelled)
  }

  @Test func aLinkThatIsLetGoClosesItsSession() async throws {
    let accessory = PretendedAccessory()
    do { _ = try await accessory.link() }
    try await accessory.transport.waitForClose()
  }

  /// Events keep the link that they come from: a program may hold nothing else.
  @Test func eventsKeepTheirLinkOpen() async throws {
    let accessory = PretendedAccessory()
    do {
      var events = try await accessory.link().events().makeAsyncIterator()
      accessory.transport.receive(PretendedAccessory.frame(.event(.battery, number: 1), [3]))
      #expect(try await events.next()?.number == 1)
      #expect(accessory.transport.closeCount == 0)
    }
    try await accessory.transport.waitForClose()
  }

  @Test(arguments: [false, true]) func aLinkThatIsLetGoIsFreed(isClosedFirst: Bool) async throws {
    let accessory = PretendedAccessory()
    weak var freed: LinkCore<AF1Exchange>?
    do {
      let link = try await accessory.link()
      freed = link.core
      let events = link.events()
      _ = try await link.requestAndEvents(AF1Request(.echo, payload: [1]))
      if isClosedFirst { await link.close() }
      withExtendedLifetime(events) {}
    }
    try await eventually("the link to be freed") { freed == nil }
  }

  @Test func slowSubscribersLoseTheOldestEventsAndNobodyElse() async throws {
    let accessory = PretendedAccessory()
    let link = try await accessory.link()
    let slow = link.events()
    for number: UInt16 in 0..<300 {
      accessory.transport.receive(PretendedAccessory.frame(.event(.battery, number: number), [1]))
    }
    _ = try await link.request(AF1Request(.echo))  // behind them all
    var iterator = slow.makeAsyncIterator()
    #expect(try await iterator.next()?.number == 44)
    #expect(link.statistics.droppedEvents == 44)
    #expect(link.statistics.link.events == 300)
  }

  @Test func aLinkWhoseHelloNobodyAnswersIsClosed() async throws {
    let transport = MemoryTransport(label: "gadget")
    let clock = ManualClock()
    let opening = Task {
      try await Link.open(AccessorySession(transport), rules: AF1Exchange(label: "gadget"), clock: clock)
    }
    for _ in 0..<3 {
      _ = try await transport.nextWritten(18)
      try await clock.waitForPending()
      // To the deadline and no further: beyond it lies the next one, if that is set before the clock stands still.
      clock.advanceToNext()
    }
    let error = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(error?.kind == .timedOut)
    #expect(transport.closeCount >= 1)
  }

  @Test func aDeviceThatTakesNothingGetsTheRequestLater() async throws {
    let accessory = PretendedAccessory()
    let link = try await accessory.link()
    accessory.transport.stall()
    let filler = [UInt8](repeating: 0, count: 20_000)
    #expect(accessory.transport.output.offer(filler) == .accepted)
    #expect(accessory.transport.output.offer([1]) == .full)
    async let reply = link.request(AF1Request(.echo, payload: [9]))
    accessory.transport.unstall()
    #expect(try await reply.payload == [9])
  }
}
