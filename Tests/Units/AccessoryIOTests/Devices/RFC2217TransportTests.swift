// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// The client of RFC 2217 at a server that the test plays.
  @Suite struct RFC2217TransportTests {
    /// A client, and the connection at the server's side.
    private func connect(_ body: (RFC2217Transport, DescriptorTransport) async throws -> Void) async throws {
      let directory = try TemporaryDirectory()
      let arrived = Watched<DescriptorTransport?>(nil)
      let listener = try SocketListener(at: directory.path + "/line") { client in arrived.update { $0 = client } }
      let base = try await DescriptorTransport.open(unix: directory.path + "/line")
      let client = RFC2217Transport(base, label: "the line", io: .shared, clock: IOThread.shared)
      let server = try #require(try await arrived.wait { $0 != nil })
      try await body(client, server)
      await client.close()
      await server.close()
      listener.close()
    }

    private static let willComPort: [UInt8] = [0xFF, 0xFB, 44]

    @Test func aClientAgreesOnOptionsAndSetsTheRate() async throws {
      try await connect { client, server in
        let (reader, writer) = (InputReader(server.input), OutputWriter(server.output))
        async let agreed: Void = client.negotiate(within: .seconds(60), clock: IOThread.shared)
        // WILL and DO of BINARY and of SUPPRESS-GO-AHEAD, and WILL COM-PORT-OPTION.
        let offers = try await reader.read(15)
        #expect(offers.suffix(3) == Self.willComPort[...])
        try await writer.write([0xFF, 0xFD, 44])
        try await agreed
        // A rate is asked for, and what the server says is in force.
        let line = try #require(client.line)
        async let status = line.change(LineChanges(baudRate: 57_600))
        #expect(try await reader.read(10) == [0xFF, 0xFA, 44, 1, 0, 0, 0xE1, 0, 0xFF, 0xF0])
        try await writer.write([0xFF, 0xFA, 44, 101, 0, 0, 0xE1, 0, 0xFF, 0xF0])
        #expect(try await status.baudRate == 57_600)
        // FF is doubled, both ways.
        try await OutputWriter(client.output).write([1, 0xFF, 2])
        #expect(try await reader.read(4) == [1, 0xFF, 0xFF, 2])
        try await writer.write([3, 0xFF, 0xFF, 4])
        #expect(try await InputReader(client.input).read(3) == [3, 0xFF, 4])
      }
    }

    @Test func aServerThatRefusesRFC2217IsAnError() async throws {
      try await connect { client, server in
        let agreed = Task { try await client.negotiate(within: .seconds(60), clock: IOThread.shared) }
        // It refuses what was offered, so not before that.
        #expect(try await InputReader(server.input).read(15).suffix(3) == Self.willComPort[...])
        try await OutputWriter(server.output).write([0xFF, 0xFE, 44])
        let error = await #expect(throws: AccessoryError.self) { try await agreed.value }
        #expect(error?.kind == .refused)
      }
    }

    /// Each DO of an option that nobody knows wants an answer, and this server reads none.
    @Test func endlessNegotiationsAreBadData() async throws {
      try await connect { client, server in
        let demands = [UInt8](repeating: 0, count: 3_000_000).indices.map { [0xFF, 0xFD, 99][$0 % 3] as UInt8 }
        let flood = Task { try await OutputWriter(server.output).write(demands) }
        let ending = try await InputReader(client.input).readToEnd()
        #expect(ending.bytes.isEmpty && ending.error?.kind == .badData)
        server.beginClose()
        _ = await flood.result
      }
    }
  }
}
