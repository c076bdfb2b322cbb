// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import FamilyAF1
import Glibc
import TestSupport
import Testing

@testable import AccessorySharing

/// Clients that leave while their requests wait for an accessory that answers nothing. No time passes: the clock stands still.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct GoneClientTests {
  private let hub = SharingHub(SharingRules(), io: .shared, clock: ManualClock())
  private let accessory = EchoingAccessory()

  /// Connects, and sends more requests than the accessory takes at once.
  private func ask(_ descriptor: CInt) async throws {
    let bytes = (0..<20).flatMap { AF1Frames.ask(UInt16($0), [UInt8($0)]) }
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    try await eventually("the client is there") { await hub.clientCount == 1 }
    await hub.settle()
  }

  private func attach() async {
    accessory.mute(true)
    await hub.attach(SharedDevice(accessory.transport, routing: .af1(label: "lamp"))) { _ in }
  }

  private func tcp(_ body: (CInt) async throws -> Void) async throws {
    await attach()
    let endpoint = try await NetworkEndpoint.listen(at: "127.0.0.1", port: 0, for: hub)
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = endpoint.port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(result == 0)
    try await ask(descriptor)
    try await body(descriptor)
    await endpoint.close()
    await hub.close()
  }

  @Test func whoClosesATCPConnectionIsGone() async throws {
    try await tcp { descriptor in
      close(descriptor)
      try await eventually("the client is gone") { await hub.clientCount == 0 }
      #expect(await hub.routingStatistics?.requests ?? 0 < 20)
    }
  }

  /// Who only ends its own stream still gets replies.
  @Test func whoStillReadsStays() async throws {
    try await tcp { descriptor in
      shutdown(descriptor, CInt(SHUT_WR))
      for _ in 0..<20 {
        await hub.settle()
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(await hub.clientCount == 1)
      close(descriptor)
    }
  }

  @Test func whoClosesASocketAfterItsInputIsGone() async throws {
    await attach()
    let directory = try TemporaryDirectory()
    let endpoint = try await UnixEndpoint.listen(at: directory.path + "/lamp", for: hub)
    let client = try await DescriptorTransport.open(unix: directory.path + "/lamp")
    let bytes = (0..<20).flatMap { AF1Frames.ask(UInt16($0), [UInt8($0)]) }
    try await OutputWriter(client.output).write(bytes)
    try await eventually("the client is there") { await hub.clientCount == 1 }
    await hub.settle()
    await client.close()
    try await eventually("the client is gone") { await hub.clientCount == 0 }
    await endpoint.close()
    await hub.close()
  }

  /// First its input ends, as with `nc -N`, and later the program does.
  @Test func whoEndsItsInputAndThenLeavesIsGone() async throws {
    await attach()
    let client = MemoryTransport(label: "a")
    await hub.join(client, name: "a", kind: .local)
    for number in 0..<20 { client.receive(AF1Frames.ask(UInt16(number), [UInt8(number)])) }
    await hub.settle()
    client.input.finish(nil)
    await hub.settle()
    #expect(await hub.clientCount == 1)
    client.output.close(.disconnected("a"))
    await hub.settle()
    #expect(await hub.clientCount == 0)
    await hub.close()
  }
}
