// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import Glibc
import SystemPackage
import TestSupport
import Testing

private let wait = #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"wait"}}"#
private let list = #"{"method":"accessorybridge.Bridge.List"}"#

@Suite("Clients that come and go", .timeLimit(.minutes(Patience.minutes(2)))) struct ConnectionTests {
  @Test func aClientThatEndedSendingStillGetsItsAnswers() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    try await raw.send(wait)
    try await raw.send(list)
    raw.endSending()
    try await sample.bridge.seen.wait { $0.waiting == 1 }
    sample.bridge.seen.update { $0.isReleased = true }
    #expect(try await raw.errors() == ["-", "-"])
    try await sample.clients.wait { $0 == 0 }
    await sample.server.close()
  }

  @Test func whatAClientWaitedForEndsWithIt() async throws {
    let sample = try await SampleServer()
    do {
      let raw = try RawClient(sample.path)
      try await raw.send(wait)
      try await sample.bridge.seen.wait { $0.waiting == 1 }
      // Behind it: a call that nobody will wait for, and one that needs no waiting.
      try await raw.send(wait)
      try await raw.send(#"{"method":"accessorybridge.Bridge.Detach","oneway":true}"#)
    }
    try await sample.clients.wait { $0 == 0 }
    let seen = sample.bridge.seen.value
    #expect(seen.cancelled == 1 && seen.waiting == 1 && seen.detached == [nil])
    await sample.server.close()
  }

  @Test func aStreamEndsWithItsClient() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let task = Task {
      var names: [Bridge.EventName] = []
      for try await event in try client.stream(Bridge.Subscribe()) {
        names.append(event.event)
        if names.count == Bridge.EventName.allCases.count { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return names
    }
    let result = await task.result
    let end = #expect(throws: ControlError.self) { try result.get() }
    #expect(end?.accessoryError.kind == .cancelled)
    try await sample.bridge.seen.wait { $0.subscribers == 0 }
    try await sample.clients.wait { $0 == 0 }
    await sample.server.close()
  }

  @Test func aClientThatNeverReadsIsLeftBehind() async throws {
    let sample = try await SampleServer()
    let lazy = try RawClient(sample.path)
    try await lazy.send(#"{"method":"accessorybridge.Bridge.Trace","more":true}"#)
    // It is disconnected, and meanwhile and afterwards others are answered.
    let client = try await sample.client()
    _ = try await client.call(Bridge.List())
    try await sample.clients.wait { $0 == 1 }
    #expect(sample.bridge.seen.value.subscribers == 0)
    _ = try await client.call(Bridge.List())
    await sample.server.close()
  }

  @Test func answersThatNobodyReadsStopTheCalls() async throws {
    let sample = try await SampleServer()
    let lazy = try RawClient(sample.path)
    // Each answers 128 KB: the socket holds one or two, and what is beyond waits with the calls.
    let call = #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"big","payload_hex":"010000"}}"#
    for _ in 0..<30 { try await lazy.send(call) }
    let client = try await sample.client()
    for _ in 0..<20 { _ = try await client.call(Bridge.List()) }
    #expect(sample.bridge.seen.value.callers.count < 20 + 10)
    // When it reads after all, all of them are answered.
    #expect(try await lazy.messages(30).count == 30)
    await sample.server.close()
  }

  @Test func aSlowReaderOfAStreamMissesNothing() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    var times: [Double] = []
    do {
      for try await piece in try client.stream(Bridge.Trace(device: "X1")) {
        #expect(piece.bytes == pattern(1_024))
        times.append(piece.time)
        await Task.yield()
      }
    } catch {
      // Unless it was left behind, the service's own end.
      #expect(error.accessoryError.kind == .cancelled || error.accessoryError.kind == .disconnected)
    }
    #expect(times == times.indices.map(Double.init) && times.count > 256)
    await sample.server.close()
  }

  /// A file waits for its reader: what is on the way is bounded, and nothing of it is lost.
  @Test func aFileWaitsForItsReader() async throws {
    let sample = try await SampleServer()
    let lazy = try RawClient(sample.path)
    try await lazy.send(#"{"method":"accessorybridge.Bridge.GetFile","parameters":{"path":"1024"},"more":true}"#)
    try await sample.bridge.seen.wait { $0.pieces > 0 }
    let client = try await sample.client()
    for _ in 0..<100 { _ = try await client.call(Bridge.List()) }
    // 2 KB each: what the socket takes, and a message's length.
    #expect(sample.bridge.seen.value.pieces < 700)
    let messages = try await lazy.messages(1_026)
    #expect(messages.count == 1_026)
    let offsets = messages.dropFirst().dropLast().map { $0.fields?["parameters"]?.fields?["offset"] }
    #expect(offsets == (0..<1_024).map { .int($0 * 1_024) })
    #expect(messages.last.flatMap { ReplyMessage($0) }?.continues == false)
    await sample.server.close()
  }

  /// A file whose reader goes, or whose server closes, doesn't wait any more.
  @Test(arguments: [true, false]) func aFileThatNobodyReadsEnds(byClient: Bool) async throws {
    let sample = try await SampleServer()
    var lazy: RawClient? = try RawClient(sample.path)
    try await lazy?.send(#"{"method":"accessorybridge.Bridge.GetFile","parameters":{"path":"1024"},"more":true}"#)
    try await sample.bridge.seen.wait { $0.pieces > 0 }
    if byClient {
      lazy = nil
      try await sample.clients.wait { $0 == 0 }
    }
    await sample.server.close()
    #expect(sample.bridge.seen.value.subscribers == 0)
    lazy = nil
  }

  @Test func moreBusyClientsThanAllowedAreTurnedAway() async throws {
    var limits = ControlServer.Limits()
    (limits.clients, limits.reservedClients) = (2, 1)
    let sample = try await SampleServer(limits: limits)
    // The tests' user is the server's own, and has one more.
    var clients: [RawClient] = []
    for count in 1...3 {
      clients.append(try RawClient(sample.path))
      try await clients.last?.send(wait)
      try await sample.bridge.seen.wait { $0.waiting == count }
    }
    let raw = try RawClient(sample.path)
    #expect(try await raw.errors() == ["accessorybridge.Bridge.LimitReached"])
    let fourth = try await sample.client()
    let error = await #expect(throws: ControlError.self) { try await fourth.call(Bridge.List()) }
    #expect(error?.accessoryError.kind == .busy)
    clients.removeLast()
    try await sample.clients.wait { $0 == 2 }
    _ = try await sample.client().call(Bridge.List())
    await sample.server.close()
  }

  /// Who wants nothing has to make room, who waits for longest first; who waits for an answer stays.
  @Test func silentClientsMakeRoom() async throws {
    var limits = ControlServer.Limits()
    (limits.clients, limits.reservedClients) = (4, 0)
    let sample = try await SampleServer(limits: limits)
    let busy = try await sample.client()
    let answer = Task { try await busy.call(Bridge.Request(command: "wait")) }
    try await sample.bridge.seen.wait { $0.waiting == 1 }
    var silent: [RawClient] = []
    for count in 2...4 {
      silent.append(try RawClient(sample.path))
      try await sample.clients.wait { $0 == count }
    }
    // Begins a message, and doesn't end it.
    try await silent[1].send(Array(#"{"method":"#.utf8))
    for index in silent.indices {
      let client = try await sample.client()
      _ = try await client.call(Bridge.List())
      client.close()
      try await sample.clients.wait { $0 == 3 }
      #expect(try await silent[index].errors() == ["accessorybridge.Bridge.LimitReached"])
      silent[index] = try RawClient(sample.path)
      try await sample.clients.wait { $0 == 4 }
    }
    sample.bridge.seen.update { $0.isReleased = true }
    _ = try await answer.value
    await sample.server.close()
  }

  /// There is one bound on what all together leave unread: who leaves most is disconnected, others aren't.
  @Test func allTogetherLeaveSoMuchUnread() async throws {
    var limits = ControlServer.Limits()
    limits.allUnsentBytes = 4 << 20
    let sample = try await SampleServer(limits: limits)
    let modest = try RawClient(sample.path)
    try await modest.send(
      #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"big","payload_hex":"040000"}}"#)
    var lazy: [RawClient] = []
    for number in 1...6 {
      lazy.append(try RawClient(sample.path))
      // Two digits a byte: a bit less than 2 MiB each, of which the kernel takes some.
      try await lazy.last?.send(
        #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"big","payload_hex":"0F0000"}}"#)
      try await sample.bridge.seen.wait { $0.callers.count == number + 1 }
    }
    try await sample.clients.wait { $0 <= 4 }
    // Those that are still there get all of their answers; the others theirs up to where they were cut off.
    var whole = 0
    for client in lazy { whole += ((try? await client.messages(1)) ?? []).count }
    #expect((1...3).contains(whole))
    #expect(try await modest.messages(1).count == 1)
    await sample.server.close()
  }

  /// One member of the group can't lock the others out, however busy his connections are.
  @Test(.enabled(if: geteuid() == 0, "only root can be others")) func oneUserLeavesRoomForOthers() async throws {
    let directory = try TemporaryDirectory()
    chmod(directory.path, 0o711)
    let bridge = SampleBridge()
    let socket = try ControlSocket.make(at: directory.path + "/control", group: "nogroup")
    let server = try ControlServer(socket, handler: bridge)
    let greedy = try ChildProcess("crowd", socket.path ?? "", "65534", "200")
    #expect(try await greedy.readLine() == "holds")
    // More of his only make room for each other; the others' calls are answered.
    for user in ["65533", "65534", "0"] {
      let other = try ChildProcess("ask", socket.path ?? "", user)
      let answer = try await other.readLine()
      if user == "65534" { #expect(answer.hasPrefix("busy: ")) } else { #expect(answer == "answered") }
      #expect(try await other.wait() == 0)
    }
    greedy.closeInput()
    #expect(try await greedy.wait() == 0)
    await server.close()
  }

  /// Text that is not JSON, with a name that fits on a line.
  struct Broken: Sendable, CustomTestStringConvertible {
    let testDescription, text: String

    init(_ text: String, _ name: String? = nil) {
      self.text = text
      testDescription = name ?? text.debugDescription
    }
  }

  @Test(arguments: [
    Broken(""), Broken("x"), Broken("{"), Broken("[1"), Broken("\"\\ud800\""), Broken(#"{"method":"a","method":"b"}"#),
    Broken("{\"method\":\"\u{7}\"}"), Broken(String(repeating: "[", count: 60_000), "arrays"),
    Broken(String(repeating: "{\"a\":", count: 10_000), "objects"),
  ])
  func whatIsNotJSONEndsTheConnection(_ broken: Broken) async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    try await raw.send(list)
    try await raw.send(broken.text)
    // What comes before is answered; what follows isn't looked at.
    let names = try await raw.errors()
    #expect(names == ["-", "accessorybridge.Bridge.BadData"])
    try await sample.clients.wait { $0 == 0 }
    await sample.server.close()
  }

  @Test func invalidUTF8EndsTheConnection() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    try await raw.send(Array(#"{"method":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8) + [0])
    #expect(try await raw.errors() == ["accessorybridge.Bridge.BadData"])
    await sample.server.close()
  }

  @Test func anEndlessMessageEndsTheConnection() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    await #expect(throws: Errno.self) {
      for _ in 0..<10_000 { try await raw.send([UInt8](repeating: 0x20, count: 65_536)) }
    }
    #expect(try await raw.errors() == ["accessorybridge.Bridge.BadData"])
    await sample.server.close()
  }

  @Test func jsonThatIsNoCallIsAnsweredAndForgotten() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    for text in ["1", "null", "[]", "{}", #"{"method":7}"#, list] { try await raw.send(text) }
    raw.endSending()
    let invalid = "org.varlink.service.InvalidParameter"
    #expect(try await raw.errors() == [invalid, invalid, invalid, invalid, invalid, "-"])
    await sample.server.close()
  }

  /// Clients that send made-up bytes and go at any moment leave nothing behind, and others are answered.
  @Test func noiseOfClientsDisturbsNobodyElse() async throws {
    let sample = try await SampleServer()
    let path = sample.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for seed in 0..<40 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(seed))
          let pieces = [
            wait, list, "{", "\0", #"{"method":"accessorybridge.Bridge.Open","upgrade":true}"#, "\u{1}", "[[[",
          ]
          let raw = try RawClient(path)
          for _ in 0..<(random.next() % 10) {
            let piece = pieces[Int(random.next() % UInt64(pieces.count))]
            // It may be disconnected already.
            try? await raw.send(Array(piece.utf8) + (random.next() % 3 == 0 ? [] : [0]))
          }
          if random.next() % 2 == 0 { raw.endSending() }
        }
      }
      group.addTask {
        let client = try await ControlClient.connect(to: path)
        for _ in 0..<100 { _ = try await client.call(Bridge.List()) }
      }
      try await group.waitForAll()
    }
    try await sample.clients.wait { $0 == 0 }
    let seen = sample.bridge.seen.value
    #expect(seen.lent == seen.returned && seen.waiting == seen.cancelled)
    await sample.server.close()
  }
}
