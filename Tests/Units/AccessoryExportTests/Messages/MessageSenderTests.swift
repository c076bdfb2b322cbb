// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import AccessoryExport

@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct MessageSenderTests {
  private static let alarm = AccessoryAlarm(
    name: "low", rule: "battery < 20 %", since: 100, value: "12 %", number: 12, unit: "%")

  private static func message(_ name: String = "Pack", _ state: AlarmMessage.State = .raised) -> AlarmMessage {
    AlarmMessage(state, accessory: "A1", name: name, alarm: alarm, time: 1e9)
  }

  /// A script in a temporary folder.
  private static func script(_ text: String, _ directory: TemporaryDirectory, name: String = "script") throws -> String
  {
    let path = directory.path + "/" + name
    try directory.write(Array("#!/bin/sh\n\(text)\n".utf8), to: name, mode: 0o755)
    return path
  }

  private static func read(_ directory: TemporaryDirectory, _ name: String) throws -> String {
    String(decoding: try SmallFile.read("\(directory.path)/\(name)", limit: 65_536), as: UTF8.self)
  }

  @Test func theTextsAreForPeople() {
    #expect(Self.message().title == "Alarm: Pack: low")
    #expect(Self.message().text == "battery < 20 %: 12 % (A1)")
    #expect(Self.message("Pack", .cleared).title == "Over: Pack: low")
    #expect(Self.message("a\r\nBcc: x").title == #"Alarm: a\u{d}\u{a}Bcc: x: low"#)
  }

  /// What curl reads: nothing of the message can become a setting, and no file is sent.
  @Test func curlGetsItsSettingsAsInput() {
    let body = Array("@/etc/passwd \"quoted\" \\ back\nurl = \"http://evil\"".utf8)
    let settings = String(decoding: MessageSender.settings(body, to: "https://ntfy.sh/", token: "tk_1"), as: UTF8.self)
    let lines = settings.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("url") } == ["url = \"https://ntfy.sh/\""])
    #expect(lines.contains(#"data-raw = "@/etc/passwd \"quoted\" \\ back\nurl = \"http://evil\"""#))
    #expect(lines.contains("header = \"Authorization: Bearer tk_1\""))
    #expect(!settings.contains("location"), "no redirects")
  }

  @Test func statusesSayWhatToDo() {
    #expect(MessageSender.outcome(code: 204, hasToken: false) == .sent)
    for (code, text) in [(302, "moved"), (404, "URL"), (429, "patience"), (500, "problem")] {
      guard case .failed(let reason) = MessageSender.outcome(code: code, hasToken: true) else {
        Issue.record("\(code)")
        continue
      }
      #expect(reason.contains(text))
    }
    #expect(
      MessageSender.outcome(code: 401, hasToken: true) == .failed("the server refuses (401): is the token right?"))
    guard case .refused = MessageSender.outcome(code: 413, hasToken: false) else {
      Issue.record("413")
      return
    }
    #expect(MessageSender.failure(6, "").contains("name"))
  }

  @Test func aMailHasNoHeaderOfTheAccessory() {
    let message = Self.message("Süd\nBcc: all@example.org")
    let text = String(
      decoding: MessageSender.mailText(message, to: "me@example.org", from: "pi@example.org"), as: UTF8.self)
    let parts = text.split(separator: "\n\n", maxSplits: 1)
    #expect(parts[0].hasPrefix("From: pi@example.org\nTo: me@example.org\nSubject: =?utf-8?Q?Alarm"))
    #expect(!parts[0].contains("\nBcc"))
    #expect(parts[0].split(separator: "\n").allSatisfy { $0.utf8.count <= 90 })
    #expect(parts[1].contains("battery < 20 %: 12 %"))
    #expect(MessageSender.encodedWord("plain") == "plain")
    #expect(MessageSender.encodedWord("ä b") == "=?utf-8?Q?=C3=A4=20b?=")
  }

  /// A name that is written like an encoded word, with a new line and a header in it, is only a name.
  @Test func aNameLikeAnEncodedWordIsNotDecoded() throws {
    let name = "=?utf-8?Q?=0ABcc:=20all@example.org?="
    let text = String(decoding: MessageSender.mailText(Self.message(name), to: "a@b", from: nil), as: UTF8.self)
    let subject = try #require(text.split(separator: "\nMIME-Version").first?.split(separator: "Subject: ").last)
    // What the name has is encoded once more, so that it is decoded to itself.
    #expect(subject.contains("=3D=3Futf=2D8=3FQ=3F=3D0ABcc"), "\(subject)")
    let words = subject.split(separator: "\n ")
    #expect(words.allSatisfy { $0.hasPrefix("=?utf-8?Q?") && $0.hasSuffix("?=") && !$0.dropFirst(2).contains("=?u") })
    // An ntfy server decodes titles, too.
    let json = String(decoding: try Self.message(name).ntfyJSON(topic: "t"), as: UTF8.self)
    let title = try #require(json.split(separator: "\"title\":\"").last?.split(separator: "\"").first)
    #expect(!title.contains("=?"), "\(title)")
  }

  /// A server whose answer has no end: its status is the outcome, and little of the rest is read.
  @Test func anAnswerWithoutAnEndIsNotReadToItsEnd() throws {
    let taken = Locked(0)
    let server = try ScriptedServer { client in
      var piece = [UInt8](repeating: 0x78, count: 65_536)
      _ = Glibc.read(client, &piece, piece.count)
      let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
      guard send(client, head, head.count, CInt(MSG_NOSIGNAL)) > 0 else { return }
      while true {
        let count = send(client, piece, piece.count, CInt(MSG_NOSIGNAL))
        guard count > 0 else { return }
        taken.withLock { $0 += count }
      }
    }
    defer { withExtendedLifetime(server) {} }
    let way = MessageWay("long", .webhook(url: "http://127.0.0.1:\(server.port)/hook"))
    #expect(MessageSender().send(Self.message(), by: way) == .sent)
    // Some is on its way in buffers.
    #expect(taken.withLock { $0 } < 32 << 20)
  }

  /// The body of an answer says nothing: neither its absence nor a long one is a failure.
  @Test(arguments: [
    ("HTTP/1.1 204 No Content\r\n\r\n", true), ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n" + String(repeating: "x", count: 100_000), true),
    ("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", false), ("nonsense\r\n\r\n", false),
  ]) func theStatusIsTheOutcome(answer: String, isSent: Bool) throws {
    let server = try ScriptedServer { client in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      _ = Glibc.read(client, &buffer, buffer.count)
      let bytes = Array(answer.utf8)
      _ = send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
    defer { withExtendedLifetime(server) {} }
    let way = MessageWay("one", .webhook(url: "http://127.0.0.1:\(server.port)/hook"))
    let outcome = MessageSender().send(Self.message(), by: way)
    #expect((outcome == .sent) == isSent, "\(outcome)")
  }

  /// A server that takes the request and never answers: curl gives up at the limit, and says so.
  @Test func aServerThatDoesNotAnswerIsGivenUp() throws {
    let server = try ScriptedServer { client in
      // Until curl has gone.
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while Glibc.read(client, &buffer, buffer.count) > 0 {}
    }
    defer { withExtendedLifetime(server) {} }
    let way = MessageWay("slow", .webhook(url: "http://127.0.0.1:\(server.port)/hook"))
    let begin = ContinuousClock.now
    guard case .failed(let reason) = MessageSender(seconds: 1).send(Self.message(), by: way) else {
      Issue.record("it was sent")
      return
    }
    #expect(reason.hasPrefix("no answer within 1 s: is the server slow?") && !reason.contains("/hook"), "\(reason)")
    #expect(ContinuousClock.now - begin >= .milliseconds(900))
  }

  /// A program that doesn't end is ended, with what it has started.
  @Test func aProgramThatDoesNotEndIsEnded() throws {
    let directory = try TemporaryDirectory()
    let program = try Self.script("echo begun; exec sleep 600", directory)
    guard
      case .failed(let reason) = MessageSender(seconds: 1).send(
        Self.message(), by: MessageWay("me", .run(program: program)))
    else {
      Issue.record("it was sent")
      return
    }
    #expect(reason == "\(program) took longer than 1 s and was ended (begun)", "\(reason)")
  }

  /// What a program has started may go on when it has ended itself.
  @Test(arguments: [0, 3]) func aProgramThatLeavesAnotherRunningHasEnded(status: Int) throws {
    let directory = try TemporaryDirectory()
    let program = try Self.script(
      "echo begun; sleep 600 & echo $! > '\(directory.path)/left'; exit \(status)", directory)
    let outcome = MessageSender().send(Self.message(), by: MessageWay("me", .run(program: program)))
    #expect(outcome == (status == 0 ? .sent : .failed("\(program) ended with exit status \(status) (begun)")))
    let left = try #require(pid_t(Self.read(directory, "left").dropLast()))
    #expect(kill(left, SIGKILL) == 0, "it still runs")
  }

  /// Also when that prints again and again.
  @Test func aProgramThatLeavesAPrintingOneHasEnded() throws {
    let directory = try TemporaryDirectory()
    let program = try Self.script(
      "(while :; do echo x; sleep 0.005; done) & echo $! > '\(directory.path)/left'; exit 0", directory)
    #expect(MessageSender(seconds: 5).send(Self.message(), by: MessageWay("me", .run(program: program))) == .sent)
    let left = try #require(pid_t(Self.read(directory, "left").dropLast()))
    #expect(kill(left, SIGKILL) == 0, "it still runs")
  }

  @Test func sendmailGetsTheMail() throws {
    let directory = try TemporaryDirectory()
    let sendmail = try Self.script(
      #"printf '%s ' "$@" > "\#(directory.path)/words"; cat > "\#(directory.path)/mail""#, directory)
    let sender = MessageSender(sendmail: sendmail)
    #expect(sender.send(Self.message(), by: MessageWay("me", .mail(to: "me@example.org", from: nil))) == .sent)
    #expect(try Self.read(directory, "words") == "-t -i ")
    #expect(try Self.read(directory, "mail").hasPrefix("To: me@example.org\nSubject: Alarm: Pack: low\n"))
    let none = MessageSender(sendmail: directory.path + "/none")
    guard case .failed(let reason) = none.send(Self.message(), by: MessageWay("me", .mail(to: "a", from: nil))) else {
      Issue.record("there is none")
      return
    }
    #expect(reason.contains("install"))
  }

  @Test func aProgramGetsTheAlarmInItsEnvironment() throws {
    let directory = try TemporaryDirectory()
    let program = try Self.script(
      #"echo "$ACCESSORY_ID $ACCESSORY_ALARM $ACCESSORY_ALARM_NUMBER" > "\#(directory.path)/seen""#, directory)
    #expect(MessageSender().send(Self.message(), by: MessageWay("x", .run(program: program))) == .sent)
    #expect(try Self.read(directory, "seen") == "A1 raised 12\n")
    let failing = try Self.script("echo broken >&2; exit 3", directory, name: "failing")
    #expect(
      MessageSender().send(Self.message(), by: MessageWay("x", .run(program: failing)))
        == .failed("\(failing) ended with exit status 3 (broken)"))
  }

  /// A program that doesn't end is ended, with what it has started.
  @Test func aProgramThatHangsIsKilled() throws {
    let start = MonotonicTime.now
    let ended = try ChildProgram.run(
      "/bin/sh", ["sh", "-c", "echo before; sleep 600 & sleep 600"], input: [], limit: .milliseconds(300))
    #expect(ended.status == nil && ended.output == Array("before\n".utf8))
    #expect(MonotonicTime.now - start < .seconds(60))
    let loud = try ChildProgram.run(
      "/bin/sh", ["sh", "-c", "yes | head -c 1000000; exit 4"], input: [UInt8](repeating: 65, count: 300_000),
      limit: .seconds(60))
    #expect(loud.status == 4 && loud.output.count == 4_096)
  }
}

/// A server on loopback that answers each client by a function, on a thread of its own.
private final class ScriptedServer: Sendable {
  let port: UInt16
  private let listener: CInt

  init(_ answer: @escaping @Sendable (CInt) -> Void) throws {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    try #require(listener >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, pointer, &length) == 0
      }
    }
    try #require(isListening)
    (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    DispatchQueue(label: "test.server").async {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        answer(client)
        close(client)
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, CInt(SHUT_RDWR)) }
}
