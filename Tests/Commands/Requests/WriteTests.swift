// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Commands that change something in an accessory, as a person at the command line meets them: with a service and without.
@Suite(.timeLimit(.minutes(Patience.minutes(4)))) struct WriteTests {
  /// An accessory that answers nothing: "read" asks for something, "cut" changes something.
  private static let description = """
    protocol: pack
    version: 1
    framings:
      line:
        layout: [data, end: "\\n"]
        max: 32
    messages:
      any: {framing: line, pattern: "!{text}", pushed: true}
    requests:
      read: {send: line, data: "read"}
      cut:
        summary: Cuts the current
        send: line
        data: ["cut ", {argument: seconds}]
        arguments: {seconds: {type: text, from: 1, to: 9, default: 1}}
        write: true
    """

  private enum Way: CaseIterable {
    case service, alone
  }

  /// Runs a test with the accessory at a terminal whose other end the test has, held by a service or by nobody.
  private func with(
    _ writes: String, _ way: Way, _ body: (Sandbox, PseudoTerminal, Watched<[UInt8]>) async throws -> Void
  ) async throws {
    let terminal = try await PseudoTerminal.open()
    let (transport, arrived) = (terminal.transport, Watched<[UInt8]>([]))
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        arrived.update { [bytes] in $0 += bytes }
      }
    }
    try await Sandbox.with { box in
      try Self.write(Self.description, to: "protocols", "pack.yaml", box)
      try Self.write(
        "name: my-pack\nmatch: {driver: pack}\ndriver: pack\nwrites: \(writes)\n", to: "profiles", "my-pack.yaml", box)
      let places = [box.runtime.path + "/accessory-bridge", box.runtime.path + "/accessory-bridge/simulated"]
      for place in places { mkdir(place, 0o700) }
      let announcement = try AnnouncementFile(
        Announcement(path: terminal.path, driver: "pack", serial: "P1"), name: "pack", directory: places[1])
      let service = way == .service ? try box.start("serve") : nil
      _ = try await service?.errors(containing: "P1 is attached at")
      try await body(box, terminal, arrived)
      service?.signal(SIGTERM)
      _ = try await service?.end()
      announcement.remove()
    }
    await transport.close()
  }

  private static func write(_ text: String, to folder: String, _ name: String, _ box: Sandbox) throws {
    let path = box.directory.path + "/" + folder
    mkdir(path, 0o700)
    let file = try #require(fopen(path + "/" + name, "w"))
    fputs(text, file)
    fclose(file)
  }

  /// With one permission, or none, nothing reaches the accessory; the error names what is missing.
  @Test(arguments: [Way.service, .alone], ["allowed", "refused"])
  private func aWriteWithoutBothPermissionsSendsNothing(_ way: Way, _ writes: String) async throws {
    try await with(writes, way) { box, _, arrived in
      let write = writes == "allowed" ? [] : ["--write"]
      let missing =
        writes == "allowed" ? "the command must have --write" : "its profile my-pack must say writes: allowed"
      for words in [["cut"], ["cut", "seconds=2"], ["read", "+", "cut"], ["0x41", "42"]] {
        let ended = try await box.run(["request", "P1"] + words + write)
        #expect(ended.status == EX_NOPERM && ended.errorText.contains(missing), "\(words): \(ended.errorText)")
      }
      let dry = try await box.run(["request", "P1", "cut", "seconds=2", "--dry-run"] + write)
      #expect(dry.status == 0)
      #expect(dry.lines.first?.hasPrefix("would send 6 bytes: 63 75 74 20 32 0a") == true, "\(dry.outputText)")
      #expect(dry.lines.last?.contains("it would be refused: cut changes something in") == true)
      #expect(dry.errorText.contains("nothing was sent"))
      let json = try await box.run(["request", "P1", "cut", "--dry-run", "--json"] + write).json()
      #expect(json["sends"]?[0]?["hex"] == "63757420310a" && json["dry_run"] == true)
      #expect(json["refusal"] != nil)
      #expect(try await box.run("request", "P1", "read").status == 0)
      #expect(String(decoding: try await arrived.wait { $0.count >= 5 }, as: UTF8.self) == "read\n")
    }
  }

  @Test(arguments: [Way.service, .alone]) private func aWriteWithBothPermissionsIsSent(_ way: Way) async throws {
    try await with("allowed", way) { box, _, arrived in
      let dry = try await box.run("request", "P1", "cut", "--dry-run", "--write")
      #expect(dry.status == 0 && !dry.outputText.contains("refused"))
      #expect(try await box.run("request", "P1", "cut", "seconds=3", "--write").status == 0)
      #expect(String(decoding: try await arrived.wait { $0.count >= 6 }, as: UTF8.self) == "cut 3\n")
      let list = try await box.run("request", "P1", "--list")
      #expect(list.lines.last?.contains("Cuts the current (a write: needs --write, and writes: allowed") == true)
    }
  }

  /// Another driver's name is no way round: nothing of it is sent to a device whose own protocol has writes.
  @Test func anotherDriverSendsNothingToGuardedAccessories() async throws {
    try await with("refused", .alone) { box, _, arrived in
      let raw = try await box.run("request", "P1", "0x41", "42", "--driver", "framed", "--write")
      #expect(raw.status == EX_NOPERM && raw.errorText.contains("writes: allowed"))
      let status = try await box.run("status", "P1", "--driver", "framed")
      #expect(status.status == EX_NOPERM, "\(status.errorText)")
      let console = try await box.run("console", "P1", "--driver", "hm10", "--write", "--linger", "10ms")
      #expect(console.status == EX_NOPERM)
      #expect(arrived.value.isEmpty)
    }
  }

  /// A shell that types a line to what is started.
  private static func typing(_ line: String) -> [String] { ["/bin/sh", "-c", "echo '\(line)' | \"$0\" \"$@\""] }

  /// A console shows what comes, and sends nothing without both permissions.
  @Test(arguments: [Way.service, .alone]) private func aConsoleOnlyListens(_ way: Way) async throws {
    try await with("allowed", way) { box, terminal, arrived in
      let listening = try box.start("console", "P1", "--linger", "60s", "--show", "text")
      while !listening.transcript.value.outputText.contains("hello"), listening.transcript.value.status == nil {
        _ = terminal.transport.output.offer(Array("!hello\n".utf8))
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(listening.transcript.value.status == nil, "\(listening.transcript.value.errorText)")
      listening.signal(SIGINT)
      _ = try await listening.end()
      let ended = try await box.run(["console", "P1", "--linger", "10ms"], prefix: Self.typing("cut 1"))
      #expect(
        ended.status == EX_NOPERM && ended.errorText.contains("the command must have --write"), "\(ended.errorText)")
      #expect(arrived.value.isEmpty)
      _ = try await box.run(["console", "P1", "--write", "--linger", "10ms"], prefix: Self.typing("cut 9"))
      #expect(String(decoding: try await arrived.wait { $0.count >= 6 }, as: UTF8.self) == "cut 9\n")
    }
    try await with("refused", way) { box, _, arrived in
      let ended = try await box.run("console", "P1", "--write", "--linger", "10ms")
      #expect(ended.status == EX_NOPERM && ended.errorText.contains("its profile my-pack must say writes: allowed"))
      #expect(arrived.value.isEmpty)
    }
  }

  /// The same at a terminal, where what is typed is told to go nowhere, line after line and key after key.
  @Test(arguments: [Way.service, .alone]) private func aConsoleAtATerminalOnlyListens(_ way: Way) async throws {
    try await with("allowed", way) { box, _, arrived in
      for arguments in [[], ["--raw"]] {
        let console = try box.sit(["console", "P1"] + arguments, columns: 300)
        let start = try await console.wait(for: "Ctrl-T ? lists its keys")
        console.type("cut 1\r")
        try await console.wait(for: "the command must have --write", from: start)
        console.type("\u{1D}")
        #expect(try await console.end() == 0)
      }
      #expect(arrived.value.isEmpty)
    }
  }

  /// Drivers in Swift, too: what would be sent is shown, with what may be otherwise, and nothing is opened.
  @Test(
    arguments: [
      ("framed", ["echo", "6869"], "0ff0117e000002000c2c6869ac2a93d8"),
      ("framed", ["0x7E", "--text", "hi"], "0ff0117e000002000c2c6869ac2a93d8"),
      ("ev3", ["battery-percent"], "08000000000100811260"), ("hm10", ["set-power", "power=6"], "41542b504f574533"),
      ("bluno", ["key", "key=up"], "66"), ("hm1x", ["stop"], "0000003a"),
    ])
  func aDryRunShowsWhatSwiftDriversWouldSend(driver: String, words: [String], bytes: String) async throws {
    try await Sandbox.with { box in
      let terminal = try openPseudoTerminal(raw: true)
      let ended = try await box.run(["request", terminal.path] + words + ["--driver", driver, "--dry-run", "--json"])
      #expect(ended.status == 0, "\(ended.outputText)")
      let document = try ended.json()
      #expect(document["sends"]?[0]?["hex"] == .string(bytes) && document["remark"]?.text?.isEmpty == false)
      let text = try await box.run(["request", terminal.path] + words + ["--driver", driver, "--dry-run"])
      #expect(text.outputText.contains("would send") && text.errorText.contains("nothing was sent; "))
      #expect(terminal.received().isEmpty)
    }
  }

  @Test func aDryRunWithoutCommandsIsAUsageError() async throws {
    try await Sandbox.with { box in
      let terminal = try openPseudoTerminal(raw: true)
      let ended = try await box.run("request", terminal.path, "0x00", "--driver", "mavlink", "--dry-run")
      #expect(ended.status == EX_USAGE && ended.errorText.contains("doesn't accept AF1 commands"), "\(ended.errorText)")
    }
  }
}
