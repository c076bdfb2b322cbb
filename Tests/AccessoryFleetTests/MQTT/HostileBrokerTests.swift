// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

/// A broker that sends what it likes.
@Suite(.timeLimit(.minutes(2))) struct HostileBrokerTests {
  /// Listens on loopback, and answers a CONNECT with these bytes; `repeats` the last piece until the client goes.
  private final class Server: Sendable {
    let port: Int
    private let listener: CInt

    init(_ pieces: [[UInt8]], repeats: Bool) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) | listen(listener, 4) | getsockname(listener, $0, &size)
        }
      }
      guard result == 0 else { throw AccessoryError(.ioFailure, "no port") }
      port = Int(UInt16(bigEndian: address.sin_port))
      self.listener = listener
      DispatchQueue(label: "test.hostile").async {
        while true {
          let client = accept(listener, nil, nil)
          guard client >= 0 else { break }
          var buffer = [UInt8](repeating: 0, count: 4_096)
          _ = read(client, &buffer, buffer.count)
          for piece in pieces { _ = send(client, piece, piece.count, CInt(MSG_NOSIGNAL)) }
          while repeats, let last = pieces.last, send(client, last, last.count, CInt(MSG_NOSIGNAL)) > 0 {}
          close(client)
        }
        close(listener)
      }
    }

    deinit { shutdown(listener, CInt(SHUT_RDWR)) }
  }

  private static let accepted: [UInt8] = [0x20, 0x02, 0x00, 0x00]

  private func outcome(_ pieces: [[UInt8]], repeats: Bool = false) async throws -> AccessoryError {
    let server = try Server(pieces, repeats: repeats)
    var settings = MQTTSettings(try BrokerAddress("mqtt://127.0.0.1:\(server.port)"), clientID: "test")
    settings.version = .v311
    let client = MQTTClient(settings)
    await client.start()
    while let event = await client.next() {
      guard case .disconnected(let error, _) = event else { continue }
      await client.stop()
      withExtendedLifetime(server) {}
      return error
    }
    throw AccessoryError(.ioFailure, "the client has ended")
  }

  /// A packet of 256 MiB ends the connection long before it is whole.
  @Test
  func huge() async throws {
    let packet: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0x00, 0x01, UInt8(ascii: "t")]
    let error = try await outcome([Self.accepted + packet, Array(repeating: 0x55, count: 65_536)], repeats: true)
    #expect(error.kind == .badData && error.message.contains("bytes"), "\(error)")
  }

  /// Other nonsense ends it with an error.
  @Test(
    arguments: [
      [0x20, 0x02, 0x00, 0x05], [0x20, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Array("HTTP/1.1 400\r\n\r\n".utf8),
      [0x20, 0x02, 0x00, 0x00, 0x30, 0x02, 0x00, 0x00], [0x20, 0x02, 0x00, 0x00, 0x40, 0x02, 0x00, 0x07], [],
    ] as [[UInt8]])
  func nonsense(bytes: [UInt8]) async throws {
    let error = try await outcome([bytes])
    #expect(!error.message.isEmpty)
  }
}
