// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// `identify`: what is at a port, found by asking, and only when it is asked to.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct IdentifyTests {
  private func device(_ kind: String) throws -> RateDevice {
    switch kind {
    case "vedirect":
      let described = try #require(DescriptionLibrary.builtIn.described(kind)).description
      return try RateDevice(rate: 19_200, push: described.examples[0].received)
    case "mavlink":
      return try RateDevice(
        rate: 57_600, push: Hexadecimal.bytes("fd090000070101000000000000000203510303a120"))
    case "framed":
      return try RateDevice(rate: 115_200) { bytes in
        var reply: [UInt8] = []
        guard bytes.starts(with: [0x0F, 0xF0]), bytes.count == 10 else { return nil }
        let payload = Array("Acme\0Lamp\0M\u{31}\0A1\0\0\0".utf8)
        try? AF1Codec(maximumPayload: 256).encode(
          .reply(to: .request(.identify, number: UInt16(bytes[4]) | UInt16(bytes[5]) << 8)),
          payload: payload.span.bytes, into: &reply)
        return reply
      }
    default:
      return try RateDevice(answeringAs: kind)
    }
  }

  /// A kind that answers and two that send by themselves, by all steps up to their own, and one in Swift, which comes late; each at its
  /// own rate, and the port is as it was then. `IdentifierTests` have the other kinds, on a clock that is moved.
  @Test(arguments: ["jbd", "vedirect", "mavlink", "framed"])
  func identifyFindsEachKindAtItsRate(kind: String) async throws {
    try await Sandbox.with { box in
      let device = try device(kind)
      let settings = try device.terminal.termios2()
      // What is listened for may come late on a busy machine.
      let time = ["vedirect", "mavlink"].contains(kind) ? "5s" : "100ms"
      let words = ["identify", device.path, "--yes", "--json", "--timeout", time, "--write"]
      let ended = try await box.run(words + (kind == "framed" ? ["--only", kind] : []))
      #expect(ended.status == 0, "\(ended.outputText)\(ended.errorText)")
      let document = try ended.json()
      #expect(document["found"]?[0]?["kind"] == .string(kind) && document["found"]?[1] == nil, "\(document)")
      #expect(try device.terminal.termios2() == settings)
      #expect(try !device.terminal.isExclusive())
      // What was announced, in that order, each at its rate, and nothing behind the answer.
      let announced = try steps(document)
      let found = Int(document["found"]?[0]?["step"]?.double ?? 0)
      let before = announced.filter { $0.step < found }.flatMap { $0.bytes }
      #expect(device.allBytes.starts(with: before), "\(kind)")
      let last = announced.filter { $0.step == found }
      #expect(last.isEmpty ? device.allBytes == before : !device.allBytes.dropFirst(before.count).isEmpty)
      #expect(last.isEmpty || device.written.last?.rate == last[0].rate)
      // The profile is there, and is used: but for its place, which a pseudo-terminal has only as long as it is there.
      let yaml = try #require(document["profile"]?["yaml"]?.text)
      #expect(yaml.contains(device.path) && document["profile"]?["warning"]?.text != nil)
      let check = try await box.run("profile", "check", "profiles/my-\(kind).yaml")
      #expect(check.status == 0, "\(check.outputText)\(check.errorText)")
      let again = try await box.run("identify", device.path, "--yes", "--only", kind, "--write", "--timeout", "5s")
      #expect(again.status == EX_CANTCREAT, "\(again.errorText)")
    }
  }

  private func steps(_ document: JSON) throws -> [(step: Int, rate: UInt32, bytes: [UInt8])] {
    guard case .array(let steps)? = document["steps"] else { throw Hang("no steps") }
    return try steps.flatMap { step -> [(step: Int, rate: UInt32, bytes: [UInt8])] in
      guard case .array(let sends)? = step["sends"], !sends.isEmpty else { return [] }
      let bytes = try sends.flatMap { try #require($0["hex"]?.text.flatMap { Hexadecimal.bytes($0) }) }
      let times = Int(step["times"]?.double ?? 0)
      return (0..<times).map { _ in (Int(step["step"]?.double ?? 0), UInt32(step["baud"]?.double ?? 0), bytes) }
    }
  }

  /// A silent port is sent all that was announced, each at its rate, and nothing else. `IdentifierTests` do that with all kinds: the pauses
  /// between their steps take a minute.
  @Test func identifySendsASilentPortOnlyWhatItAnnounced() async throws {
    try await Sandbox.with { box in
      let device = try RateDevice(rate: 1)
      let ended = try await box.run(
        "identify", device.path, "--only", "jbd,daly,epever,elm327,vesc,framed", "--yes", "--json", "--timeout", "50ms")
      #expect(ended.status == EX_UNAVAILABLE)
      let document = try ended.json()
      #expect(document["found"] == [] && document["profile"] == .some(nil) && document["heard"] == [])
      let announced = try steps(document)
      #expect(Set(announced.map(\.rate)).count > 2)
      #expect(device.allBytes == announced.flatMap(\.bytes))
      for step in announced { #expect(device.written.contains { $0.rate == step.rate }) }
      let text = try await box.run("identify", device.path, "--yes", "--only", "jbd", "--timeout", "50ms")
      #expect(text.status == EX_UNAVAILABLE && text.outputText.isEmpty)
      #expect(text.errorText.contains("Nothing at all was received") && text.errorText.contains("A and B"))
    }
  }

  @Test func garbageOfAnUnknownDeviceIsShown() async throws {
    try await Sandbox.with { box in
      let device = try RateDevice(rate: 1, push: [0])
      let ended = try await box.run(
        "identify", device.path, "--yes", "--only", "jbd,vedirect,mavlink", "--timeout", "200ms")
      #expect(ended.status == EX_UNAVAILABLE && ended.outputText.isEmpty)
      #expect(
        ended.errorText.contains("f8 80 00 e1") && ended.errorText.contains("It is not text."), "\(ended.errorText)")
      let login = try RateDevice(rate: 19_200, push: Array("login: ".utf8))
      let text = try await box.run("identify", login.path, "--only", "vedirect")
      #expect(
        text.status == EX_UNAVAILABLE && text.errorText.contains("looks like text: login: login"), "\(text.errorText)")
    }
  }

  /// Before somebody has agreed nothing is opened, let alone sent.
  @Test func nothingIsOpenedBeforeConsent() async throws {
    try await Sandbox.with { box in
      let device = try device("jbd")
      let settings = try device.terminal.termios2()
      let dry = try await box.run("identify", device.path, "--dry-run")
      #expect(
        dry.status == 0 && dry.outputText.contains("dda50300fffd77") && dry.errorText.contains("nothing was sent"))
      let unasked = try await box.run("identify", device.path)
      #expect(unasked.status == EX_USAGE && unasked.errorText.contains("--yes"))
      let asked = try box.sit("identify", device.path)
      try await asked.wait(for: "Go on? [y/N] ")
      #expect(asked.state.value.text.contains("dda50300fffd77"))
      #expect(try device.terminal.termios2() == settings && device.allBytes.isEmpty)
      asked.type("n\n")
      #expect(try await asked.end() == EX_UNAVAILABLE)
      let stopped = try box.sit("identify", device.path)
      try await stopped.wait(for: "Go on? [y/N] ")
      stopped.signal(SIGINT)
      #expect(try await stopped.end() == 128 + SIGINT)
      #expect(try device.terminal.termios2() == settings && device.allBytes.isEmpty)
      let agreed = try box.sit("identify", device.path, "--only", "jbd")
      try await agreed.wait(for: "Go on? [y/N] ")
      agreed.type("y\n")
      try await agreed.wait(for: "Found jbd at 9600 baud")
      #expect(try await agreed.end() == 0 && !device.allBytes.isEmpty)
    }
  }

  /// What only listens asks nothing, and sends nothing.
  @Test func listeningNeedsNoConsent() async throws {
    try await Sandbox.with { box in
      let device = try device("vedirect")
      let ended = try await box.run("identify", device.path, "--only", "vedirect,mavlink", "--timeout", "10s")
      #expect(ended.status == 0 && ended.outputText.contains("protocol: vedirect"), "\(ended.errorText)")
      #expect(device.allBytes.isEmpty)
    }
  }

  /// Ctrl-C in the middle: the port is as it was.
  @Test func anInterruptedIdentifyLeavesThePortAsItWas() async throws {
    try await Sandbox.with { box in
      let device = try RateDevice(rate: 1)
      let settings = try device.terminal.termios2()
      let program = try box.start("identify", device.path, "--yes", "--only", "jbd", "--timeout", "30s")
      try await device.waitForBytes()
      #expect(try device.terminal.isExclusive())
      program.signal(SIGINT)
      #expect(try await program.end().status == 128 + SIGINT)
      #expect(try device.terminal.termios2() == settings && !device.terminal.isExclusive())
    }
  }

  @Test func identifyLeavesAHeldDeviceAlone() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(kind: "--profile", "jbd", "--serial", "BMS1")
      let service = try await box.serve()
      try await box.run("battery", "BMS1").expectSuccess()
      let held = try await box.run("identify", "BMS1", "--yes", "--only", "jbd")
      #expect(held.status == EX_UNAVAILABLE && held.errorText.contains("bridge-cli attach --end"), "\(held.errorText)")
      service.signal(SIGTERM)
      _ = try await service.end()
      let free = try await box.run("identify", "BMS1", "--yes", "--only", "jbd,daly", "--write", "--name", "cellar")
      #expect(free.status == 0 && free.outputText.contains("serial: \"BMS1\""), "\(free.errorText)")
      #expect(exists(box.directory.path + "/profiles/cellar.yaml"))
      let over = try await box.run("identify", "BMS1", "--yes", "--only", "jbd", "--write", "--name", "cellar")
      #expect(over.status == EX_CANTCREAT && over.errorText.contains("cellar.yaml"))
      try await board.stop()
    }
  }

  /// The system's service has other devices than a user's simulator; nothing is opened for it.
  @Test func aSimulatorIsNotForTheSystem() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(kind: "--profile", "jbd", "--serial", "BMS1")
      let ended = try await box.run("identify", "BMS1", "--yes", "--only", "jbd", "--system")
      #expect(ended.status == EX_UNAVAILABLE && ended.errorText.contains("leave out --system"), "\(ended.errorText)")
      #expect(!ended.errorText.contains("STEP"), "\(ended.errorText)")
      // Who writes the profile for himself is told how the system's service gets it.
      let own = try await box.run("identify", "BMS1", "--yes", "--only", "jbd", "--write", "--name", "cellar")
      #expect(own.status == 0 && own.errorText.contains("bridge-cli setup"), "\(own.errorText)")
      try await board.stop()
    }
  }

  @Test(
    arguments: [
      (["identify"], "expected a port"), (["identify", "/dev/null", "--only", "frob", "--yes"], "no kind frob"),
      (["identify", "/dev/null", "--timeout", "1ms"], "10ms"), (["identify", "x", "--dry-run", "--write"], "--write"),
      (["identify", "x", "--dry-run", "--system"], "--system"),
      (["identify", "x", "--write", "--system"], "leave out --write"),
      (["identify", "/dev/null", "--only", "hm1x"], "it sends no replies"),
    ])
  func wrongUseOfIdentifyIsAnError(arguments: [String], text: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(arguments)
      #expect(ended.status == EX_USAGE && ended.errorText.contains(text), "\(ended.status) \(ended.errorText)")
    }
  }

  @Test func identifyWorksOverASocket() async throws {
    try await Sandbox.with { box in
      let (request, reply, _) = try RateDevice.exchange("jbd")
      let listener = try SocketListener(at: box.directory.path + "/bms.sock") { client in
        Task {
          var heard: [UInt8] = []
          while true {
            var bytes: [UInt8] = []
            switch client.input.take(into: &bytes) {
            case .bytes: heard += bytes
            case .nothing: try await Task.sleep(for: .milliseconds(5))
            case .end: return
            }
            if heard.suffix(request.count) == request[...] {
              heard = []
              _ = client.output.offer(reply)
            }
          }
        }
      }
      let ended = try await box.run("identify", "unix:bms.sock", "--yes", "--only", "jbd,daly,sdm120")
      #expect(ended.status == 0 && ended.outputText.isEmpty, "\(ended.errorText)")
      #expect(ended.errorText.contains("Found jbd") && ended.errorText.contains("--driver jbd"), "\(ended.errorText)")
      listener.close()
    }
  }
}

extension Program.Transcript {
  fileprivate func expectSuccess() throws { #expect(status == 0, "\(errorText)") }
}
