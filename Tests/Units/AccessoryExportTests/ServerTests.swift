// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryExport

/// The server with clients on real sockets, and a clock that is moved by hand.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ServerTests {
  private typealias Client = SocketClient

  private let clock = ManualClock()

  private func nut(limit: Int = 64) async throws -> (ExportServer<NUTSession>, ConnectionListener.Place) {
    let server = ExportServer(ReadingsFeed(clock: clock), limit: limit, clock: clock) { peer in
      NUTSession(NUTSession.Configuration(upses: ["RACK"], version: "1"), address: peer?.host ?? "")
    }
    return (server, try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in })
  }

  @Test func clientsSeeEachOther() async throws {
    let (server, place) = try await nut()
    let (one, other) = (try await Client(place), try await Client(place))
    one.send("LOGIN RACK\n")
    try await one.wait(for: "OK\n")
    other.send("GET NUMLOGINS RACK\nLIST CLIENT RACK\n")
    try await other.wait(for: "NUMLOGINS RACK 1\nBEGIN LIST CLIENT RACK\nCLIENT RACK 127.0.0.1\n")
    one.send("LOGOUT\n")
    try await one.waitForEnd()
    #expect(one.received.value.text.hasSuffix("OK Goodbye\n"))
    try await eventually("its login is gone") {
      other.send("GET NUMLOGINS RACK\n")
      return other.received.value.text.contains("NUMLOGINS RACK 0\n")
    }
    await server.close()
    try await other.waitForEnd()
  }

  @Test func clientsBeyondTheLimitAreDisconnected() async throws {
    let (server, place) = try await nut(limit: 2)
    let clients = [try await Client(place), try await Client(place)]
    for client in clients {
      client.send("VER\n")
      try await client.wait(for: "Accessory Bridge 1\n")
    }
    let third = try await Client(place)
    try await third.waitForEnd()
    #expect(third.received.value.text == "")
    clients[0].send("LOGOUT\n")
    try await clients[0].waitForEnd()
    // There is room for one again.
    let fourth = try await Client(place)
    fourth.send("VER\n")
    _ = try await fourth.received.wait { $0.hasEnded || !$0.text.isEmpty }
    #expect(fourth.received.value.text == "Accessory Bridge 1\n")
    await server.close()
  }

  /// Whoever takes all places and sends nothing keeps nobody out, also not those behind the same address.
  @Test func silentConnectionsGiveTheirPlaces() async throws {
    let (server, place) = try await nut(limit: 3)
    let settled = try await Client(place)
    settled.send("VER\n")
    try await settled.wait(for: "Accessory Bridge 1\n")
    let silent = [try await Client(place), try await Client(place)]
    let late = try await Client(place)
    late.send("VER\n")
    try await late.wait(for: "Accessory Bridge 1\n")
    try await silent[0].waitForEnd()
    settled.send("NETVER\n")
    try await settled.wait(for: "1.3\n")
    #expect(!silent[1].received.value.hasEnded)
    await server.close()
  }

  /// One address can't take all places for itself.
  @Test func anotherAddressFindsAPlace() async throws {
    let (server, place) = try await nut(limit: 3)
    var clients: [Client] = []
    for _ in 0..<3 {
      clients.append(try await Client(place))
      clients.last?.send("VER\n")
      try await clients.last?.wait(for: "Accessory Bridge 1\n")
    }
    // From 127.0.0.2.
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    for (host, port, isOwn) in [("127.0.0.2", UInt16(0), true), ("127.0.0.1", place.port, false)] {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr(host)
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          let count = socklen_t(MemoryLayout<sockaddr_in>.size)
          return isOwn ? bind(descriptor, pointer, count) : connect(descriptor, pointer, count)
        }
      }
      #expect(result == 0)
    }
    #expect(write(descriptor, "VER\n", 4) == 4)
    let answer = try await blocking {
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = read(descriptor, &buffer, 100)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
    #expect(answer == "Accessory Bridge 1\n")
    try await clients[2].waitForEnd()
    #expect(!clients[0].received.value.hasEnded && !clients[1].received.value.hasEnded)
    await server.close()
  }

  @Test func whoSaysNothingIsDisconnected() async throws {
    let (server, place) = try await nut()
    let (silent, busy) = (try await Client(place), try await Client(place))
    try await clock.waitForPending(2)
    clock.advance(by: .seconds(40))
    busy.send("LIST UPS\n")
    try await busy.wait(for: "END LIST UPS\n")
    clock.advance(by: .seconds(20))
    try await silent.waitForEnd()
    busy.send("NETVER\n")
    try await busy.wait(for: "1.3\n")
    await server.close()
  }

  /// It could hold its place for ever.
  @Test func whoOnlyAsksForTheVersionIsDisconnected() async throws {
    let (server, place) = try await nut()
    let client = try await Client(place)
    try await clock.waitForPending(1)
    for _ in 0..<2 {
      client.send("VER\n")
      try await client.received.wait { $0.text.hasSuffix("Accessory Bridge 1\n") || $0.hasEnded }
      client.received.update { $0.bytes = [] }
      clock.advance(by: .seconds(30))
    }
    try await client.waitForEnd()
    await server.close()
  }

  /// Who asks and doesn't read is answered no more after a while, and disconnected in the end.
  @Test func whoDoesNotReadIsDisconnected() async throws {
    let (server, place) = try await nut()
    let client = try await Client(place, reads: false)
    let request = Array(String(repeating: "HELP\n", count: 10_000).utf8)
    // Until both queues, the kernel's and ours, are full.
    try await eventually("it is answered no more") {
      _ = client.transport.output.offer(request)
      return client.transport.output.queuedCount > 100_000 || client.transport.output.offer([]) != .accepted
    }
    try await eventually("it is gone") {
      clock.advance(by: .seconds(70))
      if case .closed = client.transport.output.offer([UInt8](repeating: 10, count: 1)) { return true }
      return false
    }
    await server.close()
  }

  @Test func aConnectionAnswersOneRequestInTime() async throws {
    let server = ExportServer(ReadingsFeed(clock: clock), clock: clock) { _ in
      MetricsSession(hosts: HostNames(), version: "1") { (MonotonicTime(nanoseconds: 0), 1_700_000_000) }
    }
    let place = try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in }
    let client = try await Client(place)
    client.send("GET /metrics HTTP/1.1\r\nHost: \(place.network)\r\n\r\nGET /metrics HTTP/1.1\r\n")
    try await client.waitForEnd()
    #expect(client.received.value.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(client.received.value.text.components(of: "HTTP/1.1 200 OK") == 1)
    let slow = try await Client(place)
    slow.send("GET /met")
    try await clock.waitForPending(1)
    try await eventually("its time is up") {
      clock.advance(by: .seconds(11))
      return slow.received.value.hasEnded
    }
    #expect(slow.received.value.text.isEmpty || slow.received.value.text.hasPrefix("HTTP/1.1 408 "))
    await server.close()
  }

  @Test func onlyLoopbackIsServedUnlessAllowed() async throws {
    let server = ExportServer(ReadingsFeed(clock: clock), clock: clock) { _ in
      NUTSession(NUTSession.Configuration(), address: "")
    }
    await #expect(throws: AccessoryError.self) {
      _ = try await server.listen(at: "0.0.0.0", port: 0, networks: []) { _ in }
    }
    await server.close()
  }
}

extension String {
  /// How often a text is in it.
  fileprivate func components(of text: String) -> Int {
    split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
