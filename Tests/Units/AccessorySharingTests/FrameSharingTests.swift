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

/// A hub that shares an AF1 accessory by frames; the accessory and the clients are the test's own.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct FrameSharingTests {
  /// An accessory that answers HELLO, and everything else by the same payload.
  private final class Accessory: Sendable {
    let transport: MemoryTransport
    private let seen: Watched<[AF1Header]>

    init() {
      let state = Locked((codec: AF1Codec(maximumPayload: 4_096), isMute: false))
      let seen = Watched<[AF1Header]>([])
      mute = { value in state.withLock { $0.isMute = value } }
      transport = MemoryTransport(label: "lamp") { transport, bytes in
        var batch = FrameBatch<AF1Header>()
        let isMute = state.withLock { state in
          state.codec.decode(bytes.span.bytes, into: &batch)
          #expect(state.codec.counters.skippedBytes == 0)
          return state.isMute
        }
        for index in 0..<batch.count {
          let header = batch.header(at: index)
          seen.update { $0.append(header) }
          var payload = batch.payloadBytes(at: index)
          if header.command == .hello {
            payload = []
            AF1HelloReply(bootID: 7, largestPayload: 4_096, window: 2).encode(into: &payload)
          } else if isMute {
            continue
          }
          transport.receive(FrameSharingTests.frame(.reply(to: header), payload))
        }
      }
      self.seen = seen
    }

    /// From now on it answers nothing but HELLO; or again.
    let mute: @Sendable (Bool) -> Void

    /// Returns when so many requests have come.
    func requests(_ count: Int) async throws -> [AF1Header] { try await seen.wait { $0.count >= count } }
  }

  private struct Setup {
    let hub: SharingHub
    let clock = ManualClock()
    let accessory = Accessory()

    init(_ change: (inout SharingRules) -> Void = { _ in }) {
      var rules = SharingRules()
      change(&rules)
      hub = SharingHub(rules, io: .shared, clock: clock)
    }

    func attach(_ accessory: Accessory? = nil) async {
      let transport = (accessory ?? self.accessory).transport
      await hub.attach(SharedDevice(transport, routing: .af1(label: "lamp"))) { _ in }
    }

    func join(_ name: String, kind: HubClientKind = .local) async -> MemoryTransport {
      let client = MemoryTransport(label: name)
      await hub.join(client, name: name, kind: kind)
      return client
    }

    func settle() async { await hub.settle() }
  }

  private static func frame(_ header: AF1Header, _ payload: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &bytes)
    return bytes
  }

  private func ask(_ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    Self.frame(.request(.echo, number: number), payload)
  }

  private func answer(_ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    Self.frame(AF1Header(flags: .reply, command: .echo, number: number), payload)
  }

  @Test func eachReplyGoesToItsClientThroughAHub() async throws {
    let setup = Setup()
    await setup.attach()
    let clients = [await setup.join("a"), await setup.join("b"), await setup.join("c")]
    for round in 0..<50 {
      for (index, client) in clients.enumerated() {
        client.receive(ask(UInt16(round), [UInt8(index), UInt8(round)]))
      }
    }
    for (index, client) in clients.enumerated() {
      let expected = (0..<50).flatMap { answer(UInt16($0), [UInt8(index), UInt8($0)]) }
      #expect(try await client.nextWritten(expected.count) == expected)
      #expect(client.written.isEmpty)
    }
    #expect(await setup.hub.routingStatistics?.replies == 150)
    await setup.hub.close()
  }

  @Test func nothingIsSentBeforeSomebodyAsks() async throws {
    let setup = Setup()
    let a = await setup.join("a")
    a.receive(ask(1, [1]))
    await setup.settle()
    await setup.attach()
    #expect(try await a.nextWritten(answer(1, [1]).count) == answer(1, [1]))
    #expect(try await setup.accessory.requests(2).map(\.command) == [.hello, .echo])
    await setup.hub.close()
  }

  @Test func framesForRFC2217AreEscaped() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await setup.join("a", kind: .rfc2217)
    await setup.settle()
    let greeting = client.written.count
    _ = try await client.nextWritten(greeting)
    client.receive(Telnet.escaped(ask(1, [0xFF, 0xFF])))
    let expected = Telnet.escaped(answer(1, [0xFF, 0xFF]))
    #expect(try await client.nextWritten(expected.count) == expected)
    await setup.hub.close()
  }

  @Test func whoSendsNoFramesIsToldOf() async throws {
    let setup = Setup()
    await setup.attach()
    let a = await setup.join("a")
    for _ in 0..<5 { a.receive(Array("no frame".utf8)) }
    a.receive(ask(1, [1]))
    _ = try await a.nextWritten(answer(1, [1]).count)
    await setup.hub.close()
    var news: [SharingNews] = []
    for await one in setup.hub.news { news.append(one) }
    #expect(news == [.deviceCame, .joined("a"), .notAFrame("a")])
    #expect(try await setup.accessory.requests(2).count == 2)
  }

  @Test func whoAsksTooMuchWaitsAndLosesNothing() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    setup.accessory.transport.stall()
    let count = 4_000
    let all = (0..<count).flatMap { ask(UInt16($0), [UInt8($0 & 255)]) }
    for start in stride(from: 0, to: all.count, by: 1_500) {
      a.receive(Array(all[start...].prefix(1_500)))
      await setup.settle()
    }
    // It isn't read on.
    #expect(a.input.count > 0)
    b.receive(ask(1, [2]))
    await setup.settle()
    setup.accessory.transport.unstall()
    // The other one has its turn soon.
    #expect(try await b.nextWritten(answer(1, [2]).count) == answer(1, [2]))
    let expected = (0..<count).flatMap { answer(UInt16($0), [UInt8($0 & 255)]) }
    #expect(try await a.nextWritten(expected.count) == expected)
    await setup.hub.close()
  }

  @Test func anUnplugEndsWhatWasAsked() async throws {
    let setup = Setup { $0.unplug = .keep }
    await setup.attach()
    let a = await setup.join("a")
    a.receive(ask(1, [1]))
    _ = try await a.nextWritten(answer(1, [1]).count)
    setup.accessory.mute(true)
    a.receive(ask(2, [2]))
    _ = try await setup.accessory.requests(3)
    setup.accessory.transport.deviceWasRemoved()
    await setup.settle()
    a.receive(ask(3, [3]))
    await setup.settle()
    let next = Accessory()
    await setup.attach(next)
    a.receive(ask(4, [4]))
    // Of what was asked before nothing is left.
    #expect(try await a.nextWritten(answer(4, [4]).count) == answer(4, [4]))
    #expect(try await next.requests(2).count == 2)
    await setup.hub.close()
  }

  @Test func whoLeavesIsForgotten() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    setup.accessory.transport.stall()
    for number in 0..<10 { a.receive(ask(UInt16(number), [1])) }
    await setup.settle()
    a.deviceWasRemoved()
    b.receive(ask(1, [2]))
    await setup.settle()
    setup.accessory.transport.unstall()
    #expect(try await b.nextWritten(answer(1, [2]).count) == answer(1, [2]))
    await setup.hub.close()
    #expect(try await setup.accessory.requests(2).count == 2)
  }

  @Test func theNextProgramAtATerminalBeginsAnew() async throws {
    let setup = Setup()
    await setup.attach()
    let a = MemoryTransport(label: "tty")
    let id = await setup.hub.join(a, name: "tty", kind: .local)
    // It dies amid a frame.
    a.receive(Array(ask(1, [1, 2, 3]).prefix(12)))
    await setup.settle()
    await setup.hub.setListening(id, false)
    await setup.hub.setListening(id, true)
    a.receive(ask(1, [4]))
    #expect(try await a.nextWritten(answer(1, [4]).count) == answer(1, [4]))
    await setup.hub.close()
  }

  // MARK: - Slow readers

  @Test func aLoneReaderIsWaitedForAndOneOfSeveralIsNot() async throws {
    var rules = SharingRules()
    rules.bufferSize = 4_096
    let hub = SharingHub(rules, io: .shared, clock: ManualClock())
    let device = MemoryTransport(label: "lamp")
    await hub.attach(device) { _ in }
    let slow = MemoryTransport(label: "slow")
    await hub.join(slow, name: "slow", kind: .local)
    slow.stall()
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var sent = 0
    while sent < bytes.count, device.receive(Array(bytes[sent...].prefix(1_000))) {
      sent += 1_000
      for _ in 0..<4 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
    }
    // The device isn't read on, and nothing is lost.
    #expect(sent < bytes.count)
    sent += 1_000
    #expect(await hub.clientCount == 1)
    slow.unstall()
    #expect(try await slow.nextWritten(sent) == Array(bytes.prefix(sent)))
    slow.stall()
    // Where another reads, it goes.
    let quick = MemoryTransport(label: "quick")
    await hub.join(quick, name: "quick", kind: .local)
    for start in stride(from: 0, to: 100_000, by: 1_000) {
      let piece = Array(bytes[start...].prefix(1_000))
      device.receive(piece)
      #expect(try await quick.nextWritten(1_000) == piece)
    }
    #expect(await hub.clientCount == 1)
    await hub.close()
  }

  /// The next program at a terminal is read, though the one before left many requests unanswered.
  @Test func theNextProgramAtATerminalIsRead() async throws {
    let setup = Setup()
    await setup.attach()
    setup.accessory.mute(true)
    let terminal = try await PseudoTerminal.open()
    let (client, kind) = (MemoryTransport(label: "tty"), HubClientKind.terminal(terminal))
    let id = await setup.hub.join(client, name: "tty", kind: kind, isListening: true)
    for number in 0..<200 {
      client.receive(Self.frame(.request(.echo, number: UInt16(number)), [UInt8](repeating: 1, count: 40)))
    }
    await setup.settle()
    await setup.hub.setListening(id, false)
    await setup.hub.setListening(id, true)
    await setup.settle()
    #expect(await !setup.hub.isWaiting(id))
    await terminal.transport.close()
    await setup.hub.close()
  }
}

extension SharingHub {
  /// Whether a client isn't read, as the device has no room.
  fileprivate func isWaiting(_ id: HubClient.ID) -> Bool { parts.clients[id]?.intake.isWaitingForDevice == true }
}
