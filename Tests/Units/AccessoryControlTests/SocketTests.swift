// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("The socket's file, and a server's and a client's life", .timeLimit(.minutes(Patience.minutes(2))))
struct SocketTests {
  private func make(_ path: String, group: String? = nil) async throws(AccessoryError) -> ControlSocket {
    try await SetupQueue(label: "test").run { () throws(AccessoryError) in
      try ControlSocket.make(at: path, group: group)
    }
  }

  private func failure(_ path: String, group: String? = nil) async -> AccessoryError? {
    do throws(AccessoryError) {
      _ = try await make(path, group: group)
      return nil
    } catch { return error }
  }

  private func file(_ path: String) throws -> stat {
    var file = stat()
    guard lstat(path, &file) == 0 else { throw Errno(rawValue: errno) }
    return file
  }

  @Test func theFileIsForTheOwnerAndTheGroup() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/control"
    let server = try ControlServer(try await make(path, group: "daemon"), handler: SampleBridge())
    let file = try file(path)
    #expect(file.st_mode == S_IFSOCK | 0o660)
    var entry = getgrnam("daemon")!.pointee
    #expect(file.st_gid == entry.gr_gid)
    await server.close()
    #expect(!exists(path))
    entry.gr_gid = 0
    #expect(await failure(path, group: "no-such-group")?.kind == .misconfigured)
  }

  @Test func aSecondServerIsRefusedWhileTheFirstLives() async throws {
    let sample = try await SampleServer()
    let error = await failure(sample.path)
    #expect(error?.kind == .busy && error?.message.contains(sample.path) == true)
    _ = try await sample.client().call(Bridge.List())
    await sample.server.close()
    let second = try ControlServer(try await make(sample.path), handler: SampleBridge())
    _ = try await sample.client().call(Bridge.List())
    await second.close()
  }

  @Test func aServerWithoutOurLockIsFoundToo() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/control"
    let other = try UnixSocket.create()
    try UnixSocket.bind(other, to: path)
    try Socket.listen(other, backlog: 1)
    #expect(await failure(path)?.kind == .busy)
    // Also when it is too busy to take another client.
    var waiting: [FileDescriptor] = []
    defer { waiting.forEach(Socket.close) }
    repeat {
      waiting.append(try UnixSocket.create())
    } while (try? UnixSocket.connect(waiting[waiting.count - 1], to: path)) != nil
    #expect(waiting.count < 10)
    #expect(await failure(path)?.kind == .busy)
    Socket.close(other)
    // Now the file is what a killed server leaves behind.
    #expect(exists(path))
    let server = try ControlServer(try await make(path), handler: SampleBridge())
    _ = try await ControlClient.connect(to: path).call(Bridge.List())
    await server.close()
  }

  @Test func whatIsNoSocketIsLeftAlone() async throws {
    let directory = try TemporaryDirectory()
    try directory.write([1, 2, 3], to: "control")
    #expect(await failure(directory.path + "/control")?.kind == .misconfigured)
    #expect(try SmallFile.read(directory.path + "/control", limit: 10) == [1, 2, 3])
    symlink("/etc/passwd", directory.path + "/link")
    #expect(await failure(directory.path + "/link")?.kind == .misconfigured)
    #expect(await failure(directory.path + "/missing/control")?.kind == .notFound)
    #expect(await failure(directory.path + "/" + String(repeating: "x", count: 200))?.kind == .misconfigured)
  }

  @Test func aSocketThatWasPassedIsServedAndLeft() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/passed"
    let made = try UnixSocket.create(blocking: true)
    try UnixSocket.bind(made, to: path)
    try Socket.listen(made, backlog: 8)
    let socket = try ControlSocket.adopt(made)
    #expect(socket.path == path)
    let server = try ControlServer(socket, handler: SampleBridge())
    _ = try await ControlClient.connect(to: path).call(Bridge.List())
    await server.close()
    #expect(exists(path))
    let unbound = try UnixSocket.create()
    defer { Socket.close(unbound) }
    let error = #expect(throws: AccessoryError.self) { try ControlSocket.adopt(unbound) }
    #expect(error?.kind == .misconfigured)
  }

  /// What isn't running is unavailable, and no missing device.
  @Test func noServiceIsUnavailable() async throws {
    let directory = try TemporaryDirectory()
    let missing = await #expect(throws: AccessoryError.self) {
      _ = try await ControlClient.connect(to: directory.path + "/control")
    }
    #expect(missing?.isNoService == true && missing?.kind.exitStatus == EX_UNAVAILABLE)
  }

  @Test func aServiceThatEndsTellsItsClients() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let waiting = Task { try await client.call(Bridge.Request(command: "wait")) }
    try await sample.bridge.seen.wait { $0.waiting == 1 }
    await sample.server.close()
    // The call is cancelled and answers that.
    let cancelled = await #expect(throws: ControlError.self) { try await waiting.value }
    #expect(cancelled?.accessoryError.kind == .cancelled)
    let gone = await #expect(throws: ControlError.self) { try await client.call(Bridge.List()) }
    #expect(gone?.accessoryError.kind == .disconnected)
  }

  @Test func aServiceThatDoesNotAnswerIsTimedOut() async throws {
    let sample = try await SampleServer()
    let clock = ManualClock()
    let client = try await ControlClient.connect(to: sample.path, io: .shared, clock: clock)
    let waiting = Task { try await client.call(Bridge.Request(command: "wait"), timeout: .seconds(3)) }
    try await sample.bridge.seen.wait { $0.waiting == 1 }
    clock.advance(by: .seconds(4))
    let error = await #expect(throws: ControlError.self) { try await waiting.value }
    #expect(error?.accessoryError.kind == .timedOut)
    // The late answer is not taken for the next one's.
    sample.bridge.seen.update { $0.isReleased = true }
    let reply = try await client.call(Bridge.Request(command: "echo", payload: [9]))
    #expect(reply.reply.payload == [9])
    await sample.server.close()
  }

  @Test func aCancelledCallDoesNotDisturbTheNext() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let waiting = Task { try await client.call(Bridge.Request(command: "wait")) }
    try await sample.bridge.seen.wait { $0.waiting == 1 }
    waiting.cancel()
    let error = await #expect(throws: ControlError.self) { try await waiting.value }
    #expect(error?.accessoryError.kind == .cancelled)
    sample.bridge.seen.update { $0.isReleased = true }
    let reply = try await client.call(Bridge.Request(command: "echo", payload: [9]))
    #expect(reply.reply.payload == [9])
    await sample.server.close()
  }

  @Test func aServerThatClosesDoesNotWaitForAClientThatNeverReads() async throws {
    let sample = try await SampleServer()
    let lazy = try RawClient(sample.path)
    try await lazy.send(
      #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"big","payload_hex":"100000"}}"#)
    let client = try await sample.client()
    _ = try await client.call(Bridge.List())
    try await sample.bridge.seen.wait { $0.callers.count == 2 }
    await sample.server.close()
  }
}
