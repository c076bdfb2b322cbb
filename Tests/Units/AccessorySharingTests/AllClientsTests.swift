// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// What all clients of a hub have together: memory.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AllClientsTests {
  private static let piece = [UInt8](repeating: 7, count: 65_536)

  private func settle() async {
    for _ in 0..<4 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
  }

  private func crowd(
    _ slowReader: SharingRules.SlowReader, stalled: Int
  ) async -> (hub: SharingHub, device: MemoryTransport, stalled: [MemoryTransport], reader: MemoryTransport) {
    var rules = SharingRules()
    rules.slowReader = slowReader
    rules.totalBufferSize = 4 << 20
    let hub = SharingHub(rules, io: .shared, clock: ManualClock())
    let device = MemoryTransport(label: "lamp")
    await hub.attach(device) { _ in }
    var all: [MemoryTransport] = []
    for number in 0..<stalled {
      let client = MemoryTransport(label: "\(number)")
      await hub.join(client, name: "\(number)", kind: .local)
      client.stall()
      all.append(client)
    }
    let reader = MemoryTransport(label: "reader")
    await hub.join(reader, name: "reader", kind: .local)
    return (hub, device, all, reader)
  }

  /// Twenty clients that don't read would have 20 MiB. Who reads isn't disturbed.
  @Test(arguments: [SharingRules.SlowReader.close, .skip]) func clientsThatDoNotReadStayWithinTheBacklog(
    slowReader: SharingRules.SlowReader
  ) async throws {
    let (hub, device, _, reader) = await crowd(slowReader, stalled: 20)
    for _ in 0..<12 {
      device.receive(Self.piece)
      #expect(try await reader.nextWritten(Self.piece.count) == Self.piece)
      #expect(await hub.bytesWaiting <= hub.backlogLimit)
    }
    #expect(await hub.bytesWaiting > 0)
    #expect(await hub.clientCount < 21 || slowReader == .skip)
    await hub.close()
  }

  /// By `wait` nothing is lost: the device isn't read until there is room.
  @Test func theDeviceWaitsForClientsThatDoNotRead() async throws {
    let (hub, device, stalled, reader) = await crowd(.wait, stalled: 20)
    var sent = 0
    while sent < 64, !device.isPaused {
      device.receive(Self.piece)
      sent += 1
      await settle()
    }
    #expect(sent < 16)
    #expect(await hub.bytesWaiting <= hub.backlogLimit + 21 * Self.piece.count)
    for client in stalled { client.unstall() }
    for client in stalled + [reader] {
      let expected = Self.piece.count * sent
      #expect(try await client.nextWritten(expected).count == expected)
    }
    #expect(await hub.clientCount == 21)
    await hub.close()
  }
}

extension SharingHub {
  /// The bytes that wait for all clients.
  fileprivate var backlogLimit: Int { parts.delivery.backlogLimit }
  fileprivate var bytesWaiting: Int { parts.clients.all.values.reduce(0) { $0 + $1.backlog.count } }
}
