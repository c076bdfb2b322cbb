// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// A hub between transports that are the test's own.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HubTests {
  /// A hub with a device.
  private struct Setup {
    let hub: SharingHub
    let device = MemoryTransport(label: "lamp")
    let clock = ManualClock()
    let end = Watched<[AccessoryError?]>([])

    init(_ change: (inout SharingRules) -> Void = { _ in }) {
      var rules = SharingRules()
      change(&rules)
      hub = SharingHub(rules, io: .shared, clock: clock)
    }

    func attach() async { await hub.attach(device) { [end] error in end.update { $0.append(error) } } }

    func join(_ name: String, kind: HubClientKind = .local) async -> MemoryTransport {
      let client = MemoryTransport(label: name)
      await hub.join(client, name: name, kind: kind)
      return client
    }

    /// Returns when the I/O thread has done what was posted until now, and what followed from that.
    func settle() async {
      for _ in 0..<4 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
    }

    func news(_ count: Int) async -> [SharingNews] {
      var seen: [SharingNews] = []
      for await one in hub.news {
        seen.append(one)
        if seen.count == count { break }
      }
      return seen
    }
  }

  @Test func allReadTheSame() async throws {
    let setup = Setup()
    await setup.attach()
    let clients = [await setup.join("a"), await setup.join("b"), await setup.join("c")]
    let bytes = pattern(10_000)
    for start in stride(from: 0, to: bytes.count, by: 700) { setup.device.receive(Array(bytes[start...].prefix(700))) }
    for client in clients { #expect(try await client.nextWritten(bytes.count) == bytes) }
    await setup.hub.close()
  }

  @Test func manyClientsMayWrite() async throws {
    let setup = Setup()
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    a.receive([1, 2])
    #expect(try await setup.device.nextWritten(2) == [1, 2])
    b.receive([3])
    #expect(try await setup.device.nextWritten(1) == [3])
    await setup.hub.close()
  }

  @Test func oneWritesUntilItLeaves() async throws {
    let setup = Setup { $0.writers = .one }
    await setup.attach()
    let (a, b) = (await setup.join("a"), await setup.join("b"))
    a.receive([1])
    #expect(try await setup.device.nextWritten(1) == [1])
    b.receive([9])
    await setup.settle()
    a.deviceWasRemoved()
    await setup.settle()
    b.receive([2])
    #expect(try await setup.device.nextWritten(1) == [2])
    await setup.hub.close()
    let news = await setup.news(7)
    #expect(news.prefix(4) == [.deviceCame, .joined("a"), .joined("b"), .unheard("b")])
  }

  @Test func nobodyMayWriteButAllMayRead() async throws {
    let setup = Setup { $0.writers = .none }
    await setup.attach()
    let a = await setup.join("a")
    a.receive([1])
    await setup.settle()
    #expect(setup.device.written == [])
    setup.device.receive([5])
    #expect(try await a.nextWritten(1) == [5])
    await setup.hub.close()
  }

  /// Bytes that wait for a device aren't for one that takes none; the next device may take some again.
  @Test func aDeviceForReadingTakesNoBytes() async throws {
    let setup = Setup { $0.unplug = .keep }
    let a = await setup.join("a")
    a.receive([1])
    await setup.settle()
    var shared = SharedDevice(setup.device)
    shared.isReadOnly = true
    await setup.hub.attach(shared) { _ in }
    a.receive([2])
    await setup.settle()
    #expect(setup.device.written == [])
    setup.device.receive([5])
    #expect(try await a.nextWritten(1) == [5])
    setup.device.deviceWasRemoved()
    await setup.settle()
    let other = MemoryTransport(label: "other")
    await setup.hub.attach(other) { _ in }
    a.receive([3])
    #expect(try await other.nextWritten(1) == [3])
    await setup.hub.close()
    #expect(await setup.news(3) == [.joined("a"), .deviceCame, .unheard("a")])
  }

  @Test func aSlowReaderIsDisconnectedAndCostsNobodyAnything() async throws {
    let setup = Setup { $0.bufferSize = 4_096 }
    await setup.attach()
    let (slow, quick) = (await setup.join("slow"), await setup.join("quick"))
    slow.stall()
    let piece = pattern(1_000)
    for _ in 0..<100 {
      setup.device.receive(piece)
      #expect(try await quick.nextWritten(1_000) == piece)
    }
    #expect(await setup.hub.clientCount == 1)
    let news = await setup.news(4)
    guard case .left("slow", let reason?) = news.last else { return #expect(Bool(false), "\(news)") }
    #expect(reason.contains("too slow"))
    await setup.hub.close()
  }

  @Test func aSlowReaderMayMissSome() async throws {
    let setup = Setup {
      $0.bufferSize = 4_096
      $0.slowReader = .skip
    }
    await setup.attach()
    let slow = await setup.join("slow")
    slow.stall()
    for _ in 0..<100 {
      setup.device.receive(pattern(1_000))
      await setup.settle()
    }
    slow.unstall()
    await setup.settle()
    let kept = slow.written.count
    // What the transport and the buffer hold.
    #expect(kept > 4_000 && kept < 30_000)
    setup.device.receive([7, 7, 7])
    _ = try await slow.nextWritten(kept)
    #expect(try await slow.nextWritten(3) == [7, 7, 7])
    await setup.hub.close()
  }

  @Test func theDeviceMayWaitForTheSlowest() async throws {
    let setup = Setup {
      $0.bufferSize = 4_096
      $0.slowReader = .wait
    }
    await setup.attach()
    let slow = await setup.join("slow")
    slow.stall()
    let bytes = pattern(200_000)
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      setup.device.receive(Array(bytes[start...].prefix(1_000)))
      await setup.settle()
    }
    #expect(setup.device.isPaused)
    slow.unstall()
    #expect(try await slow.nextWritten(bytes.count) == bytes)
    await setup.hub.close()
  }

  @Test func writingClientsTakeTurns() async throws {
    let setup = Setup()
    await setup.attach()
    let clients = [await setup.join("a"), await setup.join("b"), await setup.join("c")]
    setup.device.stall()
    // More than the device has room for, from the first; then one piece of each of the others.
    for _ in 0..<5 {
      clients[0].receive([UInt8](repeating: 0, count: 8_000))
      await setup.settle()
    }
    clients[1].receive([1])
    clients[2].receive([2])
    await setup.settle()
    clients[0].receive([UInt8](repeating: 0, count: 64_000))
    await setup.settle()
    setup.device.unstall()
    let all = try await setup.device.nextWritten(104_002)
    #expect(all.count(where: { $0 == 0 }) == 104_000)
    let (one, two) = (try #require(all.firstIndex(of: 1)), try #require(all.firstIndex(of: 2)))
    #expect(one < two && two < 104_001)
    await setup.hub.close()
  }

  @Test func anUnplugHangsUpBehindTheLastByte() async throws {
    let setup = Setup()
    await setup.attach()
    let a = await setup.join("a")
    setup.device.receive([1, 2, 3])
    setup.device.deviceWasRemoved()
    #expect(try await a.nextWritten(3) == [1, 2, 3])
    try await a.waitForClose()
    #expect(try await setup.end.wait { !$0.isEmpty } == [.disconnected("lamp")])
    #expect(await setup.hub.clientCount == 0)
    // Who comes meanwhile stays, and what it sends is not kept for later.
    let b = await setup.join("b")
    b.receive([9])
    await setup.settle()
    let next = MemoryTransport(label: "lamp")
    await setup.hub.attach(next) { _ in }
    b.receive([4])
    #expect(try await next.nextWritten(1) == [4])
    next.receive([5])
    #expect(try await b.nextWritten(1) == [5])
    await setup.hub.close()
  }

  @Test func clientsMayBeKept() async throws {
    let setup = Setup { $0.unplug = .keep }
    await setup.attach()
    let a = await setup.join("a")
    setup.device.deviceWasRemoved()
    _ = try await setup.end.wait { !$0.isEmpty }
    a.receive([9])
    await setup.settle()
    let next = MemoryTransport(label: "lamp")
    await setup.hub.attach(next) { _ in }
    a.receive([1])
    #expect(try await next.nextWritten(1) == [1])
    next.receive([2])
    #expect(try await a.nextWritten(1) == [2])
    await setup.hub.close()
  }

  @Test func whatIsSentBeforeTheDeviceIsThereWaitsForIt() async throws {
    let setup = Setup()
    let a = await setup.join("a")
    a.receive([1])
    await setup.settle()
    a.receive([2])
    await setup.settle()
    await setup.attach()
    #expect(try await setup.device.nextWritten(2) == [1, 2])
    await setup.hub.close()
  }

  @Test func whoSendsNoMoreStaysForTheAnswer() async throws {
    let setup = Setup()
    await setup.attach()
    let a = await setup.join("a")
    a.receive([1])
    a.input.finish(nil)
    #expect(try await setup.device.nextWritten(1) == [1])
    await setup.settle()
    setup.clock.advance(by: .milliseconds(400))
    await setup.settle()
    setup.device.receive([2])
    #expect(try await a.nextWritten(1) == [2])
    setup.clock.advance(by: .milliseconds(400))
    await setup.settle()
    #expect(await setup.hub.clientCount == 1)
    setup.clock.advance(by: .milliseconds(200))
    try await a.waitForClose()
    await setup.hub.close()
  }

  @Test func aBrowserIsTurnedAway() async throws {
    let setup = Setup()
    await setup.attach()
    let page = await setup.join("page", kind: .network)
    page.receive(Array("GET".utf8))
    await setup.settle()
    page.receive(Array(" /?AT+RESET HTTP/1.1\r\nHost: localhost:7000\r\n\r\n".utf8))
    try await page.waitForClose()
    let client = await setup.join("client", kind: .network)
    client.receive(Array("GE".utf8))
    await setup.settle()
    setup.clock.advance(by: .milliseconds(300))
    #expect(try await setup.device.nextWritten(2) == Array("GE".utf8))
    client.receive([0])
    #expect(try await setup.device.nextWritten(1) == [0])
    await setup.hub.close()
  }

  @Test func placesForClientsAreLimited() async throws {
    let setup = Setup()
    await setup.attach()
    func welcome(_ name: String, _ limit: EndpointLimit) async -> MemoryTransport {
      let client = MemoryTransport(label: name)
      await setup.hub.run { $0.clients.welcome(client, name: name, kind: .local, at: limit) }
      return client
    }
    let two = EndpointLimit(maximum: 2)
    _ = await welcome("a", two)
    _ = await welcome("b", two)
    let third = await welcome("c", two)
    try await third.waitForClose()
    #expect(await setup.hub.clientCount == 2)
    let newest = EndpointLimit(newestWins: true)
    let old = await welcome("d", newest)
    let new = await welcome("e", newest)
    try await old.waitForClose()
    setup.device.receive([1])
    #expect(try await new.nextWritten(1) == [1])
    await setup.hub.close()
    try await new.waitForClose()
  }

  private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
}
