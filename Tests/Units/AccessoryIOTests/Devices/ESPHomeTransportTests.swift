// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import ESPHomeAPI
import Glibc
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  /// The client of a serial port of a node that the test plays.
  @Suite struct ESPHomeTransportTests {
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let configuration = TerminalConfiguration(path: "", baudRate: 9_600, label: "the line")

    private static func open(
      _ node: FakeNode, _ configuration: TerminalConfiguration = Self.configuration, port: String? = nil,
      keyFile: String? = nil
    ) async throws -> ESPHomeTransport {
      try await ESPHomeTransport.open(
        ESPHomeAddress(node: node.address, port: port), configuration, keyFile: keyFile)
    }

    private static func error(_ body: () async throws -> Void) async -> AccessoryError? {
      await #expect(throws: AccessoryError.self) { try await body() }
    }

    @Test(arguments: [false, true]) func bytesPassBothWays(_ isEncrypted: Bool) async throws {
      var made = NodeConversation.Node()
      let directory = try TemporaryDirectory()
      if isEncrypted {
        made.key = Array(0...31)
        try directory.write(Array((Self.key + "\n").utf8), to: "key")
        #expect(chmod(directory.path + "/key", 0o600) == 0)
      }
      let node = try await FakeNode(made)
      let line = try await Self.open(node, keyFile: isEncrypted ? directory.path + "/key" : nil)
      #expect(line.peer == node.address && line.timing == .serial(baudRate: 9_600))
      #expect(try await line.line?.status() == LineStatus(baudRate: 9_600, modemLines: []))
      let sent = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
      try await OutputWriter(line.output).write(sent)
      #expect(try await node.wait { $0.written.count == sent.count }.written == sent)
      node.send([3, 0, 255])
      #expect(try await InputReader(line.input).read(3) == [3, 0, 255])
      await line.close()
      #expect(
        try await node.wait { $0.hasLeft }.heard.suffix(2).map(\.id) == [
          NativeMessageID.serialRequest, NativeMessageID.leave,
        ])
      node.close()
    }

    @Test func theLineIsSetAsAskedFor() async throws {
      let node = try await FakeNode()
      var configuration = Self.configuration
      (configuration.parity, configuration.dtr, configuration.rts) = (.even, .on, .off)
      let line = try await Self.open(node, configuration)
      let heard = try await node.wait { $0.pins == 2 }.heard
      #expect(heard.first { $0.id == NativeMessageID.serialConfigure }?.numbers == [0, 9_600, 0, 1, 1, 8])
      let control = try #require(line.line)
      #expect(try await control.change(LineChanges(baudRate: 57_600)).description == "57600 baud, 8E1")
      try await control.set(.rts, true)
      #expect(try await control.modemLines() == [.dtr, .rts])
      for changes in [LineChanges(parity: .mark), LineChanges(flowControl: .software)] {
        #expect(await Self.error { try await control.change(changes) }?.kind == .unsupported)
      }
      #expect(await Self.error { try await control.change(LineChanges(baudRate: 0)) }?.kind == .misconfigured)
      #expect(await Self.error { try await control.setBreak(true) }?.kind == .unsupported)
      #expect(try await control.status().baudRate == 57_600)
      await line.close()
      #expect(await Self.error { _ = try await control.status() }?.kind == .cancelled)
      node.close()
    }

    /// A port without pins has none to raise; lowering them changes nothing.
    @Test func aPortWithoutPinsRaisesNone() async throws {
      var made = NodeConversation.Node()
      made.ports = [("UART", 0)]
      let node = try await FakeNode(made)
      let line = try await Self.open(node)
      let control = try #require(line.line)
      #expect(try await control.status().modemLines == nil)
      try await control.set(.dtr, false)
      let error = await Self.error { try await control.set(.dtr, true) }
      #expect(error?.kind == .unsupported && error?.message.contains("DTR") == true)
      await line.close()
      node.close()
    }

    @Test func whyANodeCantBeUsedIsSaid() async throws {
      var made = NodeConversation.Node()
      made.isInUse = true
      let node = try await FakeNode(made)
      #expect(await Self.error { _ = try await Self.open(node) }?.kind == .busy)
      #expect(await Self.error { _ = try await Self.open(node, port: "7") }?.kind == .notFound)
      node.close()
      made = NodeConversation.Node()
      made.statuses[3] = (4, "this speed isn't possible")
      let other = try await FakeNode(made)
      let error = await Self.error { _ = try await Self.open(other) }
      #expect(error?.kind == .unsupported && error?.message.contains("this speed isn't possible") == true)
      #expect(try await other.wait { $0.hasLeft }.hasLeft)
      other.close()
    }

    @Test func aKeyFileIsChecked() async throws {
      let directory = try TemporaryDirectory()
      let node = try await FakeNode()
      for (name, text, mode) in [
        ("open", Self.key, 0o644), ("zeros", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", 0o600),
        ("text", "secret", 0o600),
      ] as [(String, String, mode_t)] {
        try directory.write(Array(text.utf8), to: name)
        #expect(chmod(directory.path + "/" + name, mode) == 0)
        let error = await Self.error { _ = try await Self.open(node, keyFile: directory.path + "/" + name) }
        #expect(error?.kind == .misconfigured && error?.message.contains(text) == false, "\(name)")
      }
      #expect(await Self.error { _ = try await Self.open(node, keyFile: directory.path + "/none") }?.kind == .notFound)
      node.close()
    }

    @Test func anUnplugAtTheNodeEndsTheLine() async throws {
      var made = NodeConversation.Node()
      made.identity = (2, 1)
      let node = try await FakeNode(made)
      let line = try await Self.open(node)
      node.send([9])
      node.say { $0.identity(source: 2, flags: 0) }
      let ending = try await InputReader(line.input).readToEnd()
      #expect(ending.bytes == [9] && ending.error?.kind == .disconnected)
      node.close()
      await line.close()
    }

    /// A silent node is asked every 20 s, and given up after 90 s.
    @Test func aSilentNodeIsGivenUp() async throws {
      let directory = try TemporaryDirectory()
      let arrived = Watched<DescriptorTransport?>(nil)
      let listener = try SocketListener(at: directory.path + "/line") { client in arrived.update { $0 = client } }
      let base = try await DescriptorTransport.open(unix: directory.path + "/line")
      let server = try #require(try await arrived.wait { $0 != nil })
      let clock = ManualClock()
      let line = ESPHomeTransport(
        base, SerialProxyClient(label: "the line", port: nil, key: nil, client: "test"), label: "the line", io: .shared,
        clock: clock)
      await line.take { _ in }
      let reader = InputReader(server.input)
      // Its hello, and the log-in.
      #expect(try await reader.read(16).suffix(3) == [0, 0, 3])
      for _ in 0..<4 {
        clock.advance(by: .seconds(20))
        #expect(try await reader.read(3) == [0, 0, 7])
      }
      clock.advance(by: .seconds(20))
      let ending = try await InputReader(line.input).readToEnd()
      #expect(ending.error?.kind == .disconnected)
      await line.close()
      await server.close()
      listener.close()
    }
  }
}
