// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

/// A web server of one test, on the loopback. It answers each request with the next status, or the last one.
private final class HookServer: Sendable {
  struct Request: Sendable {
    var head, body: String
  }

  let port: UInt16
  private let descriptor: CInt
  let requests = Watched<[Request]>([])
  private let statuses: Watched<[String]>

  /// `statuses` are lines such as "200 OK", or such a line with headers.
  init(_ statuses: [String], port: UInt16 = 0, delay: DispatchTimeInterval = .seconds(0)) throws {
    self.statuses = Watched(statuses)
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    var on: CInt = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = port.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (descriptor, requests, statuses) = (descriptor, requests, self.statuses)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    try #require(bound)
    self.port = UInt16(bigEndian: address.sin_port)
    DispatchQueue(label: "test.hook").async {
      while true {
        let client = accept(descriptor, nil, nil)
        guard client >= 0 else { return }
        let request = Self.read(client)
        requests.update { $0.append(request) }
        DispatchQueue(label: "test.hook.answer").asyncAfter(deadline: .now() + delay) {
          let status = statuses.value[0]
          statuses.update { if $0.count > 1 { $0.removeFirst() } }
          let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
          _ = send(client, answer, answer.count, CInt(MSG_NOSIGNAL))
          close(client)
        }
      }
    }
  }

  /// Stops listening, so that the port refuses connections.
  func stop() {
    shutdown(descriptor, CInt(SHUT_RDWR))
    close(descriptor)
  }

  private static func read(_ client: CInt) -> Request {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let (head, body) = (String(text[..<end.lowerBound]), String(text[end.upperBound...]))
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
          .flatMap { Int($0.split(separator: " ").last ?? "") }
        if body.utf8.count >= length ?? 0 { return Request(head: head, body: body) }
      }
      var piece = [UInt8](repeating: 0, count: 4_096)
      let count = recv(client, &piece, piece.count, 0)
      guard count > 0 else { return Request(head: text, body: "") }
      bytes += piece.prefix(count)
    }
  }
}

/// Messages of alarms by the real program: to servers that refuse, are slow, away and come back; and to a sendmail.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct NotifyTests {
  private static func write(_ box: Sandbox, _ messages: String) throws {
    try box.directory.write(Array("messages:\n\(messages)\n".utf8), to: "messages.yaml")
    try box.directory.write(Array("tk_secret77\n".utf8), to: "token")
  }

  private static func start(_ box: Sandbox) throws -> Program {
    try box.start(["notify", "--config", "messages.yaml"], limit: Sandbox.longLife)
  }

  @Test func aTestSaysForEachWayWhatHappened() async throws {
    try await Sandbox.with { box in
      let fine = try HookServer(["200 OK"])
      let refusing = try HookServer(["401 Unauthorized"])
      let moved = try HookServer(["302 Found\r\nLocation: http://127.0.0.1:\(fine.port)/stolen"])
      let away = try HookServer(["200 OK"])
      away.stop()
      try box.directory.write(
        Array("#!/bin/sh\ncat > \"\(box.directory.path)/mail\"\n".utf8), to: "sendmail", mode: 0o755)
      try Self.write(
        box,
        """
        - name: phone
          ntfy: http://127.0.0.1:\(fine.port)/my-topic
          token_file: \(box.directory.path)/token
        - name: refusing
          webhook: http://127.0.0.1:\(refusing.port)/x
        - name: moved
          webhook: http://127.0.0.1:\(moved.port)/x
          token_file: \(box.directory.path)/token
        - name: away
          webhook: http://127.0.0.1:\(away.port)/x
        - mail: owner@example.org
        - run: /bin/false
        """)
      let ended = try await box.run(
        ["notify", "--test", "--config", "messages.yaml"], environment: ["PATH": box.directory.path + ":/usr/bin:/bin"])
      #expect(ended.status == EX_IOERR && ended.errorText.contains("4 ways of 6 didn't work"), "\(ended.errorText)")
      let text = ended.outputText.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix(" ") }.joined(
        separator: " ")
      #expect(text.contains("phone: sent to 127.0.0.1:\(fine.port)"), "\(text)")
      #expect(
        text.contains("refusing: not sent: the server refuses (401): it wants a token: add token_file"), "\(text)")
      #expect(text.contains("moved: not sent: the server says that it has moved (302)"), "\(text)")
      #expect(text.contains("away: not sent: nothing answers there"), "\(text)")
      #expect(text.contains("mail: sent to owner@example.org"), "\(text)")
      #expect(text.contains("run: not sent: /bin/false ended with exit status 1"), "\(text)")
      #expect(!(ended.outputText + ended.errorText).contains("tk_secret77"))
      // The token went to the server that the file names, and to no other.
      #expect(fine.requests.value.count == 1)
      let request = try #require(fine.requests.value.first)
      #expect(request.head.hasPrefix("POST / HTTP/1.1\r\n"))
      #expect(request.head.contains("Authorization: Bearer tk_secret77"))
      #expect(try JSON(request.body)["topic"] == "my-topic")
      #expect(exists(box.directory.path + "/mail"))
      for server in [fine, refusing, moved] { server.stop() }
    }
  }

  @Test func anAlarmIsToldOnceAndItsEndOnce() async throws {
    try await Sandbox.with { box in
      let server = try HookServer(["503 Service Unavailable", "200 OK"], delay: .milliseconds(300))
      try Self.write(box, "- webhook: http://127.0.0.1:\(server.port)/hook\n  token_file: \(box.directory.path)/token")
      let notify = try Self.start(box)
      let service = try await box.serve("--alarm", "low: battery < 20 %")
      let simulator = try await box.simulate("--serial", "A1", "--percent", "12")
      try await service.errors(containing: "A1: alarm: low, 12 %")
      // The first try is refused, and the second one comes after a pause.
      try await notify.errors(containing: "the server has a problem (503)")
      try await server.requests.wait { $0.count == 2 }
      let told = try JSON(server.requests.value[1].body)
      #expect(told["state"] == "raised" && told["accessory"] == "A1" && told["alarm"]?["name"] == "low")
      #expect(told["text"] == "low: battery < 20 %: 12 % (A1)" || told["title"]?.text?.hasSuffix(": low") == true)
      try await notify.errors(containing: "messages are sent again")
      try await simulator.stop()
      try await service.errors(containing: "A1 is no longer attached")
      #expect(try await box.run("forget", "A1").status == 0)
      try await server.requests.wait { $0.count == 3 }
      #expect(try JSON(server.requests.value[2].body)["state"] == "cleared")
      notify.signal(SIGTERM)
      let ended = try await notify.end()
      #expect(!ended.errorText.contains("tk_secret77") && !ended.errorText.contains("/hook"))
      server.stop()
    }
  }

  /// The network is away, the program is started again, and the network is back.
  @Test func whatWaitsIsSentByTheNextRun() async throws {
    try await Sandbox.with { box in
      let gone = try HookServer(["200 OK"])
      gone.stop()
      try Self.write(box, "- webhook: http://127.0.0.1:\(gone.port)/hook")
      let first = try Self.start(box)
      _ = try await box.serve("--alarm", "low: battery < 20 %")
      _ = try await box.simulate("--serial", "A1", "--percent", "12")
      try await first.errors(containing: "nothing answers there")
      first.signal(SIGKILL)
      _ = try await first.end()
      let server = try HookServer(["200 OK"], port: gone.port)
      let second = try Self.start(box)
      try await server.requests.wait { $0.count == 1 }
      #expect(try JSON(server.requests.value[0].body)["state"] == "raised")
      try await second.errors(containing: "webhook: sent")
      // A third run has nothing to tell: the alarm is still raised.
      second.signal(SIGTERM)
      _ = try await second.end()
      let third = try Self.start(box)
      try await third.errors(containing: "A1: raised")
      third.signal(SIGTERM)
      _ = try await third.end()
      #expect(server.requests.value.count == 1)
      server.stop()
    }
  }

  @Test func withoutAWayItSaysWhatToDo() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run("notify", "--test")
      #expect(ended.status == EX_CONFIG && ended.errorText.contains("add one under messages"), "\(ended.errorText)")
      try Self.write(box, "- ntfy: https://ntfy.sh")
      let wrong = try await box.run("notify", "--config", "messages.yaml")
      #expect(wrong.status == EX_CONFIG && wrong.errorText.contains("messages.yaml:2:9: ntfy must end with the topic"))
    }
  }
}
