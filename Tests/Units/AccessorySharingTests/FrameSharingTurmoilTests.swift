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

/// A hub that shares by frames while clients join, ask and leave and the device is unplugged, as a seed has it. Each reply reaches the
/// client that asked, in order and once, and nothing is lost but what an unplug or a client's own leaving ends.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct FrameSharingTurmoilTests {
  private final class Client {
    let name: UInt8
    let id: Int
    let transport: MemoryTransport
    var nextNumber: UInt16 = 0
    /// The replies that the client must still get.
    var expected: [UInt8] = []

    init(_ name: UInt8, _ id: Int, _ transport: MemoryTransport) {
      (self.name, self.id, self.transport) = (name, id, transport)
    }

    /// Takes what has come, which must be the next replies.
    func check() async throws {
      let count = transport.written.count
      guard count > 0 else { return }
      let written = try await transport.nextWritten(count)
      #expect(expected.starts(with: written))
      expected.removeFirst(min(written.count, expected.count))
    }

    /// Returns when all replies have come.
    func finish() async throws {
      let written = try await transport.nextWritten(expected.count)
      #expect(written == expected)
      expected = []
      #expect(transport.written.isEmpty)
    }
  }

  @Test(arguments: 1...12) func nothingIsLostOrMisdelivered(seed: UInt64) async throws {
    var dice = SeededGenerator(seed: seed)
    var rules = SharingRules()
    rules.unplug = .keep
    let hub = SharingHub(rules, io: .shared, clock: ManualClock())
    var device = EchoingAccessory()
    var end = await attach(device, to: hub)
    var clients: [Client] = []
    var nextName: UInt8 = 1
    var isStalled = false
    for _ in 0..<400 {
      switch Int.random(in: 0..<24, using: &dice) {
      case 0, 1:
        guard clients.count < 8 else { continue }
        let transport = MemoryTransport(label: "\(nextName)")
        let id = await hub.join(transport, name: "\(nextName)", kind: .local)
        clients.append(Client(nextName, id, transport))
        nextName += 1
      case 2:
        guard clients.count > 2 else { continue }
        let gone = clients.remove(at: Int.random(in: clients.indices, using: &dice))
        if Bool.random(using: &dice) {
          gone.transport.deviceWasRemoved()
        } else {
          await hub.dismiss(gone.id, "no more")
        }
        try await gone.check()
      case 3:
        // The next program at the same terminal. It expects nothing.
        guard let client = clients.randomElement(using: &dice) else { continue }
        await hub.settle()
        // What isn't read yet would count as the next program's.
        guard client.transport.input.count == 0 else { continue }
        await hub.setListening(client.id, false)
        _ = try await client.transport.nextWritten(client.transport.written.count)
        client.expected = []
        await hub.setListening(client.id, true)
        client.nextNumber = 0
      case 4:
        device.transport.deviceWasRemoved()
        _ = try await end.wait { $0 }
        await hub.settle()
        for client in clients {
          try await client.check()
          client.expected = []
        }
        device = EchoingAccessory()
        isStalled = false
        end = await attach(device, to: hub)
      case 5:
        isStalled.toggle()
        await hub.stall(device, isStalled)
      case 6:
        await hub.stall(device, false)
        isStalled = false
        for client in clients { try await client.finish() }
      default:
        guard let client = clients.randomElement(using: &dice) else { continue }
        send(from: client, &dice)
      }
      for client in clients { try await client.check() }
    }
    await hub.stall(device, false)
    for client in clients { try await client.finish() }
    #expect(await hub.clientCount == clients.count)
    await hub.close()
  }

  private func attach(_ device: EchoingAccessory, to hub: SharingHub) async -> Watched<Bool> {
    let end = Watched(false)
    await hub.attach(SharedDevice(device.transport, routing: .af1(label: "lamp"))) { _ in end.update { $0 = true } }
    return end
  }

  /// Sends some requests, cut into pieces anywhere.
  private func send(from client: Client, _ dice: inout SeededGenerator) {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...40, using: &dice) {
      let filling = [UInt8](repeating: client.name, count: Int.random(in: 0...200, using: &dice))
      let payload = [client.name, UInt8(client.nextNumber & 255)] + filling
      bytes += AF1Frames.ask(client.nextNumber, payload)
      client.expected += AF1Frames.answer(client.nextNumber, payload)
      client.nextNumber += 1
    }
    while !bytes.isEmpty {
      let count = min(bytes.count, Int.random(in: 1...2_000, using: &dice))
      client.transport.receive(Array(bytes.prefix(count)))
      bytes.removeFirst(count)
    }
  }
}

extension SharingHub {
  /// Stops or continues a device on the I/O thread, which also writes to it: two threads would mix up what the device gets.
  fileprivate func stall(_ device: EchoingAccessory, _ isStalled: Bool) {
    if isStalled { device.transport.stall() } else { device.transport.unstall() }
  }
}
