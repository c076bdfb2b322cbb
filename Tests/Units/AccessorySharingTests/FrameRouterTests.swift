// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import FamilyAF1
import TestSupport
import Testing

@testable import AccessorySharing

/// Frames are decoded on the router's queue: bytes wait for it in order and in bounded number, and its results reach nobody for whom
/// they aren't. The tests stop the queue with a gate, one test at a time, because a stopped queue occupies a thread.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(2)))) struct FrameRouterTests {
  private struct Setup {
    let hub: SharingHub
    let clock = ManualClock()
    let accessory = EchoingAccessory()
    let gate = RoutingGate()
    let end = Watched<[AccessoryError?]>([])

    init(_ change: (inout SharingRules) -> Void = { _ in }) {
      var rules = SharingRules()
      change(&rules)
      hub = SharingHub(rules, io: .shared, clock: clock)
    }

    func attach() async {
      let device = SharedDevice(accessory.transport, routing: FrameRouting(GatedRouting(gate)))
      await hub.attach(device) { [end] error in end.update { $0.append(error) } }
    }

    func join(_ name: String) async -> MemoryTransport {
      let client = MemoryTransport(label: name)
      await hub.join(client, name: name, kind: .local)
      return client
    }

    /// A client that has asked once, so that the accessory's HELLO is over.
    func joinAndAsk(_ name: String) async throws -> MemoryTransport {
      let client = await join(name)
      client.receive(AF1Frames.ask(1, [0]))
      #expect(try await client.nextWritten(AF1Frames.answer(1, [0]).count) == AF1Frames.answer(1, [0]))
      await hub.settle()
      return client
    }
  }

  @Test func framesAreNotDecodedOnTheIOThread() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    let ioThread = await withCheckedContinuation { continuation in
      IOThread.shared.post { continuation.resume(returning: RoutingGate.currentThread) }
    }
    for round in 0..<200 {
      let number = UInt16(round)
      a.receive(AF1Frames.ask(number, [1]))
      b.receive(AF1Frames.ask(number, [2]) + [0xFF])
      #expect(try await a.nextWritten(AF1Frames.answer(number, [1]).count) == AF1Frames.answer(number, [1]))
      #expect(try await b.nextWritten(AF1Frames.answer(number, [2]).count) == AF1Frames.answer(number, [2]))
    }
    setup.accessory.transport.receive(AF1Frames.event(1, [9]).dropLast())
    await setup.hub.settle()
    setup.clock.advance(by: .seconds(5))
    b.deviceWasRemoved()
    await setup.hub.settle()
    let threads = setup.gate.threads
    #expect(threads.values.reduce(0, +) >= 800)
    #expect(threads[ioThread] == nil)
    await setup.hub.close()
  }

  @Test func theDevicesEndComesBehindItsLastFrames() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.gate.close()
    let events = (0..<100).map { AF1Frames.event(UInt16($0), [UInt8($0)]) }
    for event in events { setup.accessory.transport.receive(event) }
    setup.accessory.transport.deviceWasRemoved()
    await setup.hub.hop()
    #expect(await setup.hub.hasDevice)
    #expect(setup.end.value.isEmpty && a.closeCount == 0 && a.written.isEmpty)
    setup.gate.open()
    #expect(try await a.nextWritten(events.joined().count) == Array(events.joined()))
    try await a.waitForClose()
    #expect(try await setup.end.wait { !$0.isEmpty }.map { $0?.kind } == [.disconnected])
    #expect(await !setup.hub.hasDevice)
    await setup.hub.close()
    #expect(setup.end.value.count == 1)
  }

  /// Who closes the device doesn't wait for the router: SIGTERM is heard at once, however much clients have sent.
  @Test func theOwnersCloseIsNotBehindTheClientsBytes() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.gate.close()
    for number in 0..<500 { a.receive(AF1Frames.ask(UInt16(number), [1])) }
    await setup.hub.hop()
    await setup.accessory.transport.close()
    try await eventually("the device is gone") { await !setup.hub.hasDevice }
    #expect(try await setup.end.wait { !$0.isEmpty } == [nil])
    setup.gate.open()
    await setup.hub.close()
  }

  /// Results that the I/O thread takes late are joined; the end of the device stays among them.
  @Test func resultsThatWaitAreJoined() {
    var mail = RouterMail()
    let mustRun = mail.add(.end)
    #expect(mustRun && mail.takeInputs().inputs.count == 1)
    _ = mail.add(.remove(1))
    var (first, second) = (FrameRouter.Results(), FrameRouter.Results())
    (first.hasEnded, first.inputCount, first.deliveries) = (true, 1, [(nil, [1])])
    (second.inputCount, second.deliveries) = (1, [(nil, [2])])
    #expect(mail.put(first, wasBlocked: false) == (true, true))
    #expect(mail.takeInputs().inputs.count == 1)
    #expect(mail.put(second, wasBlocked: false) == (false, false))
    let results = mail.takeResults()
    #expect(results?.hasEnded == true && results?.inputCount == 2)
    #expect(results?.deliveries.map(\.bytes) == [[1], [2]])
    #expect(mail.takeResults()?.inputCount == nil && mail.unfinished == 2)
  }

  /// The next device doesn't get what was meant for the one before, and its clients get nothing of that.
  @Test func theNextDeviceBeginsAnew() async throws {
    let setup = Setup { $0.unplug = .keep }
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.accessory.transport.stall()
    setup.gate.close()
    for number in 0..<20 { a.receive(AF1Frames.ask(UInt16(number), [1])) }
    await setup.hub.hop()
    setup.accessory.transport.deviceWasRemoved()
    await setup.hub.hop()
    setup.gate.open()
    _ = try await setup.end.wait { !$0.isEmpty }
    let next = EchoingAccessory()
    await setup.hub.attach(SharedDevice(next.transport, routing: .af1(label: "lamp"))) { _ in }
    a.receive(AF1Frames.ask(77, [7]))
    #expect(try await a.nextWritten(AF1Frames.answer(77, [7]).count) == AF1Frames.answer(77, [7]))
    #expect(next.payloads == [[7]])
    await setup.hub.close()
  }

  @Test func aClientThatIsGoneGetsNothingAndCostsNobodyAnything() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (try await setup.joinAndAsk("a"), try await setup.joinAndAsk("b"))
    setup.gate.close()
    for number in 2..<30 { a.receive(AF1Frames.ask(UInt16(number), [1])) }
    await setup.hub.hop()
    a.deviceWasRemoved()
    b.receive(AF1Frames.ask(2, [2]))
    let c = await setup.join("c")
    c.receive(AF1Frames.ask(2, [3]))
    await setup.hub.hop()
    #expect(await setup.hub.clientCount == 2)
    setup.gate.open()
    #expect(try await b.nextWritten(AF1Frames.answer(2, [2]).count) == AF1Frames.answer(2, [2]))
    #expect(try await c.nextWritten(AF1Frames.answer(2, [3]).count) == AF1Frames.answer(2, [3]))
    await setup.hub.settle()
    #expect(a.written.isEmpty && b.written.isEmpty && c.written.isEmpty)
    await setup.hub.close()
  }

  /// The next program at a terminal has the same connection, but isn't the one that asked.
  @Test func theNextProgramAtATerminalGetsNoReplyOfTheOneBefore() async throws {
    let setup = Setup()
    await setup.attach()
    let a = MemoryTransport(label: "tty")
    let id = await setup.hub.join(a, name: "tty", kind: .local)
    setup.gate.close()
    for number in 0..<500 { a.receive(AF1Frames.ask(UInt16(number), [1, 2, 3, 4])) }
    await setup.hub.hop()
    await setup.hub.setListening(id, false)
    await setup.hub.setListening(id, true)
    a.receive(AF1Frames.ask(5, [9]))
    await setup.hub.hop()
    setup.gate.open()
    #expect(try await a.nextWritten(AF1Frames.answer(5, [9]).count) == AF1Frames.answer(5, [9]))
    await setup.hub.settle()
    #expect(a.written.isEmpty)
    await setup.hub.close()
  }

  // MARK: - Bounds

  @Test func aClientIsNotReadWhileTheQueueIsBehind() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    setup.gate.close()
    let all = (0..<6_000).flatMap { AF1Frames.ask(UInt16($0), [UInt8($0 & 255)]) }
    for start in stride(from: 0, to: all.count, by: 1_000) {
      a.receive(Array(all[start...].prefix(1_000)))
      await setup.hub.hop()
    }
    let taken = all.count - a.input.count
    #expect(taken >= FrameSharing.clientLimit && taken < FrameSharing.clientLimit + 1_000)
    b.receive(AF1Frames.ask(1, [2]))
    await setup.hub.hop()
    #expect(b.input.count == 0)
    setup.gate.open()
    // The other client has its turn soon, and nothing is lost.
    #expect(try await b.nextWritten(AF1Frames.answer(1, [2]).count) == AF1Frames.answer(1, [2]))
    let expected = (0..<6_000).flatMap { AF1Frames.answer(UInt16($0), [UInt8($0 & 255)]) }
    #expect(try await a.nextWritten(expected.count) == expected)
    await setup.hub.close()
  }

  @Test func theDeviceIsNotReadWhileTheQueueIsBehind() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    let device = setup.accessory.transport
    setup.gate.close()
    let events = (0..<40).map { AF1Frames.event(UInt16($0), [UInt8](repeating: UInt8($0), count: 3_000)) }
    for event in events {
      device.receive(event)
      await setup.hub.hop()
    }
    let taken = events.joined().count - device.input.count
    #expect(taken >= FrameSharing.deviceLimit && taken < FrameSharing.deviceLimit + 4_000)
    // Its end waits behind all of that.
    device.deviceWasRemoved()
    await setup.hub.hop()
    setup.gate.open()
    #expect(try await a.nextWritten(events.joined().count) == Array(events.joined()))
    try await a.waitForClose()
    await setup.hub.close()
  }

  /// Messages without a reply are limited by nothing but the device's own speed.
  @Test func aDeviceThatTakesNothingBoundsWhatIsRead() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.accessory.transport.stall()
    let all = (0..<10_000).map { AF1Frames.tell([UInt8($0 & 255), UInt8($0 >> 8)]) }
    let bytes = Array(all.joined())
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      a.receive(Array(bytes[start...].prefix(1_000)))
      await setup.hub.settle()
    }
    let taken = bytes.count - a.input.count
    // The device's queue, the messages for which it has no room, and the client's bytes in the router.
    #expect(taken < 16_384 + FrameRouter.unsentLimit + FrameSharing.clientLimit + 5_000)
    setup.accessory.transport.unstall()
    let expected = [[0]] + (0..<10_000).map { [UInt8($0 & 255), UInt8($0 >> 8)] }
    #expect(try await setup.accessory.payloads(10_001) == expected)
    await setup.hub.close()
  }

  // MARK: - Time

  @Test func nothingIsScheduledWhileNobodyAsks() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    a.receive(AF1Frames.ask(2, [2]).dropLast())
    await setup.hub.settle()
    #expect(setup.clock.pendingCount > 0)
    for _ in 0..<10 {
      setup.clock.advance(by: .seconds(2))
      await setup.hub.settle()
    }
    #expect(setup.clock.pendingCount == 0)
    let inputs = setup.gate.threads.values.reduce(0, +)
    setup.clock.advance(by: .seconds(100))
    await setup.hub.settle()
    #expect(setup.gate.threads.values.reduce(0, +) == inputs)
    await setup.hub.close()
  }

  /// A reply that has arrived isn't late, though the device couldn't be read because the queue was behind.
  @Test func aReplyThatHasArrivedIsNotLate() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    let device = setup.accessory.transport
    device.stall()
    a.receive(AF1Frames.ask(2, [2]))
    await setup.hub.settle()
    setup.gate.close()
    let events = (0..<17).map { AF1Frames.event($0, [UInt8](repeating: 3, count: 4_000)) }
    for event in events {
      device.receive(event)
      await setup.hub.hop()
    }
    // The accessory answers; the reply isn't read.
    device.unstall()
    await setup.hub.hop()
    #expect(device.input.count > 0)
    setup.clock.advance(by: .seconds(60))
    await setup.hub.hop()
    setup.gate.open()
    let expected = Array(events.joined()) + AF1Frames.answer(2, [2])
    #expect(try await a.nextWritten(expected.count) == expected)
    await setup.hub.settle()
    #expect(setup.accessory.payloads == [[0], [2]])
    #expect(await setup.hub.routingStatistics?.unanswered == 0)
    await setup.hub.close()
  }

  @Test func whoSendsNoMoreStaysUntilItsRequestHasEnded() async throws {
    let setup = Setup()
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.accessory.mute(true)
    a.receive(AF1Frames.ask(2, [2]))
    a.input.finish(nil)
    await setup.hub.settle()
    setup.clock.advance(by: setup.hub.rules.linger)
    await setup.hub.settle()
    #expect(await setup.hub.clientCount == 1)
    for _ in 0..<200 where await setup.hub.clientCount > 0 {
      setup.clock.advance(by: .milliseconds(500))
      await setup.hub.settle()
    }
    #expect(await setup.hub.clientCount == 0)
    await setup.hub.close()
  }

  /// The router doesn't answer any more whether a reply is owed.
  @Test func whoSendsNoMoreLeavesAlsoWhenTheDeviceIsGone() async throws {
    let setup = Setup { $0.unplug = .keep }
    await setup.attach()
    let a = try await setup.joinAndAsk("a")
    setup.gate.close()
    a.receive(AF1Frames.ask(2, [2]))
    a.input.finish(nil)
    await setup.hub.hop()
    setup.accessory.transport.deviceWasRemoved()
    await setup.hub.hop()
    setup.clock.advance(by: setup.hub.rules.linger)
    await setup.hub.hop()
    setup.gate.open()
    await setup.hub.settle()
    for _ in 0..<4 where await setup.hub.clientCount > 0 {
      setup.clock.advance(by: setup.hub.rules.linger)
      await setup.hub.settle()
    }
    #expect(await setup.hub.clientCount == 0)
    await setup.hub.close()
  }
}
