// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// A command answers the same whether a service has the accessory open or the command opens it itself. `GoldenTests` compares what
/// all kinds answer to `status`, `battery`, `values` and `info`; here are the other questions, and what fails.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct SameAnswersTests {
  /// The native kinds, and described ones that differ: one that also sends by itself, one whose replies come in pieces, one of text, one that
  /// is only heard, one with a reply that is read by the value of another.
  private static let kinds = GoldenKind.all.filter { kind in
    !kind.words.contains("--profile")
      || ["jk02", "daly", "pi30", "vedirect", "victron-ble", "tianpwr"].contains(kind.name)
  }

  /// All that is listed of the kind, for people; each reading of it as text; each request by name that reads and needs no more; what a write
  /// would send, and why it isn't sent; words that mean nothing.
  @Test(arguments: kinds) func theCommandsOfAKind(_ kind: GoldenKind) async throws {
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate"] + kind.words, limit: Sandbox.longLife)
      try await simulator.line(containing: " is plugged in at ")
      guard case .array(let commands)? = try await box.run("request", "--list", "--json").json()["commands"] else {
        Issue.record("\(kind.name) lists no commands")
        return
      }
      let plain = commands.filter { command in
        guard case .array(let arguments)? = command["arguments"] else { return false }
        return arguments.allSatisfy { $0["standard"] != .null }
      }
      func names(write: Bool) -> [String] {
        plain.filter { $0["write"] == .bool(write) }.compactMap { $0["name"]?.text }
      }
      var calls = [
        ["battery"], ["values"], ["request", "--list"], ["request", "nonsense", "--json"],
        ["request", "0x7E", "--json"],
        ["values", kind.name, "nonsense"], ["battery", "--fresh", "--json"],
      ]
      // What changes something isn't marked as a write where a kind needs no permission.
      let reads = kind.words.contains("--profile") ? names(write: false) : Array(names(write: false).prefix(1))
      calls += reads.map { ["request", $0, "--json"] }
      if let name = reads.first { calls.append(["request", name, "nonsense=1"]) }
      if let name = names(write: true).first {
        calls += [["request", name, "--dry-run", "--json"], ["request", name, "--json"]]
      }
      _ = try await box.expectTheSame(calls, serial: "")
    }
  }

  /// A fault, and a question after it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The words of `simulate`.
    let words: [String]
    let question: [String]
    let status: Int32
  }

  private static let framed = ["framed", "--serial", "SIM0001", "--seed", "3"]
  private static let pack = ["--profile", "jbd", "--serial", "SIM0001"]
  private static let switched = ["--profile", "jk02", "--serial", "SIM0001"]

  static let faults = [
    Fault("silent: battery", framed + ["--drop", "1"], ["battery"], EX_TEMPFAIL),
    Fault("silent: status", framed + ["--drop", "1"], ["status", "--json"], EX_TEMPFAIL),
    Fault("silent: request", framed + ["--drop", "1"], ["request", "echo", "61"], EX_TEMPFAIL),
    Fault("silent: info", framed + ["--drop", "1"], ["info"], EX_TEMPFAIL),
    Fault("late", framed + ["--delay", "5s"], ["battery", "--json"], EX_TEMPFAIL),
    Fault("corrupt", framed + ["--corrupt", "1"], ["battery"], EX_TEMPFAIL),
    Fault("refused", framed, ["request", "0xF9"], EX_PROTOCOL),
    Fault("refused, described", pack + ["--refuse", "basic"], ["request", "basic", "--json"], EX_PROTOCOL),
    Fault("one request is unanswered", pack + ["--unanswered", "cells"], ["request", "cells"], EX_TEMPFAIL),
    Fault("one request is unanswered, others aren't", pack + ["--unanswered", "cells"], ["battery"], EX_OK),
    Fault("no such command", pack, ["request", "nonsense"], EX_USAGE),
    Fault("no such argument", pack, ["request", "basic", "nonsense=1", "--json"], EX_USAGE),
    Fault("a command without its argument", switched, ["request", "SIM0001", "charge"], EX_USAGE),
    Fault("a word that is no choice", switched, ["request", "SIM0001", "charge", "to=perhaps"], EX_USAGE),
    Fault(
      "no permission: a write that isn't asked for", switched, ["request", "SIM0001", "charge", "to=on"], EX_NOPERM),
    Fault(
      "no permission: a write that the profile doesn't allow", switched,
      ["request", "SIM0001", "charge", "to=on", "--write"],
      EX_NOPERM),
    Fault("no permission: raw bytes", pack, ["console", "--write"], EX_NOPERM),
    Fault("no permission: a raw request", pack, ["request", "0x7E", "--json"], EX_NOPERM),
    Fault("no such ability: battery", ["--profile", "sdm120", "--serial", "SIM0001"], ["battery"], EX_UNAVAILABLE),
    Fault("no such ability: files", framed, ["file", "ls", "SIM0001", "/", "--json"], EX_UNAVAILABLE),
    Fault("no such value", framed, ["values", "SIM0001", "nonsense"], EX_USAGE),
    Fault("no such accessory", framed, ["battery", "nobody", "--json"], EX_NOINPUT),
    Fault("no such driver", framed, ["battery", "--driver", "nonsense"], EX_USAGE),
    Fault("no such file", ["ev3"], ["file", "ls", "001653000001", "/nothing"], EX_PROTOCOL),
  ]

  @Test(arguments: faults) func aFaultIsTheSame(_ fault: Fault) async throws {
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate"] + fault.words, limit: Sandbox.longLife)
      try await simulator.line(containing: " is plugged in at ")
      let alone = try await box.run(fault.question)
      #expect(alone.status == fault.status, "\(alone.outputText)\(alone.errorText)")
      let service = try await box.serve()
      // A silent accessory isn't attached, and its command waits for the result.
      try await service.errors(containing: ", profile ")
      try Sandbox.expectSame(try await box.run(fault.question), alone, "\(fault.question)")
    }
  }

  /// The link ends while the reply is on its way.
  @Test(arguments: [["echo", "6162"], ["status"]]) func unpluggedInTheMiddle(_ words: [String]) async throws {
    func answer(unplugged request: Int, held: Bool) async throws -> Program.Transcript {
      let answer = Locked<Program.Transcript?>(nil)
      try await Sandbox.with { box in
        let simulator = try box.start(
          ["simulate"] + Self.framed + ["--unplug-after", "\(request)"], limit: Sandbox.longLife)
        try await simulator.line(containing: " is plugged in at ")
        if held {
          let service = try await box.serve("--poll", "off")
          try await service.errors(containing: " is attached at")
          // What the service asks at first: who it is, what it does, its battery.
          try await eventually("it was read") {
            try await box.run("list", "--json").json()["devices"]?[0]?["service"]?["readings_age_ms"]?.double != nil
          }
        }
        let own = try await box.run(["request"] + words + ["--json"])
        answer.withLock { $0 = own }
      }
      return try #require(answer.withLock { $0 })
    }
    // The first request after HELLO; with a service the first after its three.
    let (alone, through) = (try await answer(unplugged: 1, held: false), try await answer(unplugged: 4, held: true))
    #expect(alone.status == EX_UNAVAILABLE, "\(alone.outputText)\(alone.errorText)")
    #expect(through.status == alone.status, "\(through.outputText)\(through.errorText)")
    let kinds = try [alone, through].map { try $0.json()["error"]?["kind"] }
    #expect(kinds[0] == "disconnected" && kinds[0] == kinds[1], "\(kinds)")
  }

  /// Another program has its bytes.
  @Test(arguments: [false, true]) func busy(held: Bool) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "SIM0001")
      if held { try await box.serve().errors(containing: " is attached at") }
      let console = try box.sit(["console"])
      try await console.wait(for: "Ctrl-T ? lists its keys")
      let answer = try await box.run("request", "echo", "61", "--json")
      #expect(answer.status == EX_UNAVAILABLE)
      #expect(try answer.json()["error"]?["kind"] == "busy")
    }
  }
}

extension SameAnswersTests.Fault {
  fileprivate init(_ name: String, _ words: [String], _ question: [String], _ status: Int32) {
    (testDescription, self.words, self.question, self.status) = (name, words, question, status)
  }
}
