// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

/// What a client makes of a broker that sends what it likes.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HostileBrokerTests {
  private func client(of broker: HostileBroker) throws -> MQTTClient {
    MQTTClient(MQTTSettings(try BrokerAddress(broker.address), clientID: "test"))
  }

  /// The error with which a connection with this broker ends.
  private func outcome(_ broker: HostileBroker) async throws -> AccessoryError {
    let client = try client(of: broker)
    await client.start()
    while let event = await client.next() {
      guard case .disconnected(let error, _) = event else { continue }
      await client.stop()
      withExtendedLifetime(broker) {}
      return error
    }
    throw AccessoryError(.ioFailure, "the client has ended")
  }

  /// A packet of 256 MiB ends the connection long before it is whole: when 17 MiB of it have come, and no more does.
  @Test func aHugePacketEndsTheConnectionEarly() async throws {
    let packet: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0x00, 0x01, UInt8(ascii: "t")]
    let part = 17 << 20
    let broker = try HostileBroker { broker, client in
      let block = [UInt8](repeating: 0x55, count: 1 << 16)
      guard broker.send(HostileBroker.accepts + packet, to: client) else { return }
      for _ in 0..<(part / block.count) { guard broker.send(block, to: client) else { return } }
      // Until the client has gone.
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while read(client, &buffer, buffer.count) > 0 {}
    }
    let error = try await outcome(broker)
    #expect(error.kind == .badData && error.message.contains("bytes"), "\(error)")
  }

  /// Other nonsense ends it with an error.
  @Test(
    arguments: [
      [0x20, 0x02, 0x00, 0x05], [0x20, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Array("HTTP/1.1 400\r\n\r\n".utf8),
      [0x20, 0x02, 0x00, 0x00, 0x30, 0x02, 0x00, 0x00], [0x20, 0x02, 0x00, 0x00, 0x40, 0x02, 0x00, 0x07], [],
      [0xE0, 0x04, 0x00, 0x01, 0x00, 0x00],
    ] as [[UInt8]])
  func nonsenseOfABrokerEndsTheConnection(bytes: [UInt8]) async throws {
    let error = try await outcome(HostileBroker(bytes))
    #expect(!error.message.isEmpty)
  }

  /// A second CONNACK, accepting or not, is a protocol error and ends the connection: a client that took each for a new
  /// connection would begin anew each time.
  @Test(arguments: [HostileBroker.accepts, [0x20, 0x02, 0x00, 0x01]])
  func aSecondAcceptanceEndsTheConnection(second: [UInt8]) async throws {
    let error = try await outcome(HostileBroker(HostileBroker.accepts, flooding: second))
    #expect(error.kind == .badData && error.message.contains("a second time"), "\(error)")
  }

  /// Messages with QoS 2, which no subscription of ours permits, end it: the library keeps them until they are released.
  @Test func messagesOfQoS2EndTheConnection() async throws {
    let message: [UInt8] = [0x34, 0x06, 0x00, 0x01, UInt8(ascii: "t"), 0x00, 0x07, 0x58]
    let error = try await outcome(HostileBroker(HostileBroker.accepts, flooding: message))
    #expect(error.kind == .badData && error.message.contains("QoS 2"), "\(error)")
  }

  /// Acknowledgements of nothing, or answers to no question, end it after some megabytes.
  @Test(
    arguments: [[0x40, 0x02, 0x00, 0x07], [0xD0, 0x00], [0x50, 0x02, 0x00, 0x07], [0xB0, 0x02, 0x00, 0x07]] as [[UInt8]]
  )
  func aFloodOfAcknowledgementsEndsTheConnection(piece: [UInt8]) async throws {
    let error = try await outcome(HostileBroker(HostileBroker.accepts, flooding: piece))
    #expect(!error.message.isEmpty)
  }

  /// From a broker that takes no acknowledgements, no more messages are read than their acknowledgements have room.
  @Test func aClientStopsReadingWhenAcknowledgementsWait() async throws {
    let message: [UInt8] = [0x32, 0x06, 0x00, 0x01, UInt8(ascii: "t"), 0x00, 0x07, 0x58]
    let block = Array(repeatElement(message, count: 8_192).joined())
    let isStuck = Watched(false)
    let broker = try HostileBroker { broker, client in
      // The client is slow at nothing, so when nothing was taken for so long it has stopped.
      var time = timeval(tv_sec: 3, tv_usec: 0)
      setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      guard broker.send(HostileBroker.accepts, to: client) else { return }
      while broker.sent.value < 96 << 20, broker.send(block, to: client) {}
      isStuck.update { $0 = true }
    }
    let client = try client(of: broker)
    await client.start()
    let taking = Task { while await client.next() != nil {} }
    try await isStuck.wait { $0 }
    #expect(broker.sent.value < 96 << 20)
    await client.stop()
    await taking.value
  }
}
