// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// Devices at the other end of a socket with a path.
  @Suite struct UnixTransportTests {
    @Test func bytesBothWaysAndTheEnd() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/device"
      let arrived = Watched<DescriptorTransport?>(nil)
      let listener = try SocketListener(at: path) { client in arrived.update { $0 = client } }
      let transport = try await DescriptorTransport.open(unix: path)
      #expect(transport.label == "unix:\(path)" && transport.timing == .instant)
      #expect(transport.line == nil && transport.peer == nil)
      let device = try #require(try await arrived.wait { $0 != nil })
      try await OutputWriter(transport.output).write(pattern(100_000))
      #expect(try await InputReader(device.input).read(100_000) == pattern(100_000))
      try await OutputWriter(device.output).write(pattern(70_000))
      await device.close()
      // What it had said comes before its end.
      let ending = try await InputReader(transport.input).readToEnd()
      #expect(ending == .init(bytes: pattern(70_000), error: .disconnected("unix:\(path)")))
      await transport.close()
      listener.close()
    }

    @Test func closingLetsWhatWasWrittenGo() async throws {
      let directory = try TemporaryDirectory()
      let arrived = Watched<DescriptorTransport?>(nil)
      let listener = try SocketListener(at: directory.path + "/device") { client in arrived.update { $0 = client } }
      let transport = try await DescriptorTransport.open(unix: directory.path + "/device")
      let device = try #require(try await arrived.wait { $0 != nil })
      #expect(transport.output.offer(pattern(60_000)) == .accepted)
      let reader = InputReader(device.input)
      await transport.close()
      #expect(try await reader.readToEnd() == .init(bytes: pattern(60_000), error: .disconnected("the client")))
      await device.close()
      listener.close()
    }

    // MARK: - What can't be connected to

    private func error(opening path: String) async -> AccessoryError? {
      await #expect(throws: AccessoryError.self) { try await DescriptorTransport.open(unix: path, label: "the lamp") }
    }

    @Test func aSocketThatDoesNotExistIsNotFound() async throws {
      let directory = try TemporaryDirectory()
      for path in ["/nothing", "/nothing/at/all"] {
        let error = await error(opening: directory.path + path)
        #expect(error?.kind == .notFound && error?.code == .errno(ENOENT))
        #expect(error?.message == "the lamp doesn't exist: is the program that creates this socket running?")
      }
    }

    @Test func aSocketWithoutListenerIsDisconnected() async throws {
      let directory = try TemporaryDirectory()
      let socket = try UnixSocket.create()
      try UnixSocket.bind(socket, to: directory.path + "/device")
      for isOpen in [true, false] {
        let error = await error(opening: directory.path + "/device")
        #expect(error?.kind == .disconnected && error?.code == .errno(ECONNREFUSED))
        #expect(error?.message.hasPrefix("the lamp has no listener: ") == true)
        if isOpen { Socket.close(socket) }
      }
    }

    @Test func whatIsNoStreamSocketIsMisconfigured() async throws {
      let directory = try TemporaryDirectory()
      try directory.write([1], to: "file")
      #expect(mkfifo(directory.path + "/pipe", 0o600) == 0)
      for path in [directory.path + "/file", directory.path + "/pipe", directory.path, "/dev/null"] {
        let error = await error(opening: path)
        #expect(error?.kind == .misconfigured && error?.message == "the lamp is not a socket", "\(path)")
      }
      let datagrams = try UnixSocket.create(.datagram)
      try UnixSocket.bind(datagrams, to: directory.path + "/datagrams")
      let error = await error(opening: directory.path + "/datagrams")
      #expect(error?.kind == .misconfigured)
      #expect(error?.message == "the lamp is not a stream socket")
      Socket.close(datagrams)
    }

    @Test func aSocketPathThatIsTooLongIsMisconfigured() async throws {
      let error = await error(opening: "/" + String(repeating: "x", count: UnixSocket.longestPath))
      #expect(error?.kind == .misconfigured && error?.message.hasSuffix("at most 107 bytes") == true)
    }

    @Test func cancellingWhileOpeningLeavesNothingOpen() async throws {
      let directory = try TemporaryDirectory()
      let listener = try SocketListener(at: directory.path + "/device") { $0.beginClose() }
      let path = directory.path + "/device"
      let before = ThisProcess.descriptors
      let opening = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await DescriptorTransport.open(unix: path)
      }
      let error = await #expect(throws: AccessoryError.self) { try await opening.value }
      #expect(error?.kind == .cancelled)
      try await eventually("nothing stays open") { ThisProcess.descriptors.isSubset(of: before) }
      listener.close()
    }

    // MARK: - Found without opening

    @Test func aReportOnASocketSaysWhatIsThere() throws {
      let directory = try TemporaryDirectory()
      let path = directory.path + "/device"
      func findings() -> [String] {
        PortReport(.unix(path)).findings.map { "\($0.severity.rawValue) \($0.subject): \($0.message)" }
      }
      #expect(findings() == ["problem device: there is no unix:\(path): is the accessory plugged in?"])
      #expect(PortAccess(.unix(path)).refusal?.kind == .notFound)
      try directory.write([], to: "device")
      #expect(findings() == ["problem device: unix:\(path) is not a socket"])
      #expect(unlink(path) == 0)
      let socket = try UnixSocket.create()
      try UnixSocket.bind(socket, to: path)
      #expect(
        findings() == [
          "ok device: unix:\(path) exists: whether something listens there is known only after connecting",
          "ok permission: you may read and write it",
        ])
      #expect(PortAccess(.unix(path)).refusal == nil && PortAccess(.unix(path)).holder == nil)
      Socket.close(socket)
    }
  }
}
