// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// Accessories that come later (`--wait`), or go and come back.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct AwaitedAccessoryTests {
  /// The simulator starts at the same time, in any order.
  @Test(arguments: [[], ["./acc"], ["SIM0001"]]) func theAccessoryComesLater(name: [String]) async throws {
    try await Sandbox.with { box in
      let battery = try box.start(["battery"] + name + ["--wait", "60s"])
      let simulator = try box.start("simulate", "framed", "--link", "acc", "--percent", "57", "--voltage", "3712")
      let ended = try await battery.end()
      #expect(ended.outputText == "57 %  normal  3.712 V  discharging\n", "\(ended)")
      simulator.signal(SIGINT)
      #expect(try await simulator.end().status == 0)
    }
  }

  /// Each command that needs an accessory.
  @Test(arguments: [
    ["status"], ["info"], ["info", "--passive"], ["values"], ["request", "echo", "616263"], ["request", "identify"],
    ["console", "--linger", "1ms"], ["request", "SIM0001", "--list"],
  ]) func everyCommandWaitsForTheAccessory(words: [String]) async throws {
    try await Sandbox.with { box in
      let waiting = try box.start(words + ["--wait", "60s"])
      _ = try await box.simulate()
      let ended = try await waiting.end()
      #expect(ended.status == 0, "\(ended.errorText)")
    }
  }

  @Test func attachWaitsForTheAccessory() async throws {
    try await Sandbox.with { box in
      let attach = try box.start("attach", "SIM0001", "--wait", "60s")
      _ = try await box.simulate()
      try await attach.errors(containing: "SIM0001 is attached at")
      attach.signal(SIGINT)
      #expect(try await attach.end().status == 0)
      let late = try await box.run("attach", "nobody", "--wait", "100ms")
      #expect(late.status == EX_NOINPUT, "\(late.errorText)")
    }
  }

  @Test func identifyWaitsForTheAccessory() async throws {
    try await Sandbox.with { box in
      let identify = try box.start("identify", "BMS1", "--wait", "60s", "--yes", "--only", "jbd")
      _ = try await box.simulate(kind: "--profile", "jbd", "--serial", "BMS1")
      let ended = try await identify.end()
      #expect(ended.status == 0 && ended.outputText.contains("protocol: jbd"), "\(ended.errorText)")
    }
  }

  @Test(arguments: [[], ["nobody"], ["/dev/nowhere"], ["unix:nobody"], ["tcp:127.0.0.1:1"]])
  func waitingInVainEndsAsWithoutWaiting(name: [String]) async throws {
    try await Sandbox.with { box in
      let words = ["battery"] + name + ["--driver", "framed"]
      let now = try await box.run(words)
      #expect(now.status == EX_NOINPUT || now.status == EX_UNAVAILABLE)
      let later = try await box.run(words + ["--wait", "300ms"])
      #expect(later.status == now.status && later.errorText == now.errorText)
    }
  }

  /// A wait is no result, so its end by Ctrl-C isn't one.
  @Test(arguments: [
    ["battery"], ["battery", "--watch"], ["trace"], ["console"], ["status", "--json"], ["request", "--list"],
    ["attach"],
  ])
  func interruptingAWaitEndsWithStatus130(words: [String]) async throws {
    try await Sandbox.with { box in
      let waiting = try box.sit(words + ["--wait", "60s"])
      try await waiting.wait(for: "waiting for an accessory, ")
      waiting.signal(SIGINT)
      #expect(try await waiting.end() == 128 + SIGINT)
    }
  }

  @Test func aTimeThatIsNoneIsAnError() async throws {
    try await Sandbox.with { box in
      for words in [["battery", "--wait", "soon"], ["battery", "--once"], ["values", "--once"]] {
        let ended = try await box.run(words)
        #expect(ended.status == EX_USAGE, "\(words)")
      }
    }
  }

  // MARK: - Gone and back

  @Test func batteryGoesOnAfterAnUnplug() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let battery = try box.start("battery", "--watch")
      _ = try await battery.lines(1)
      simulator.program.signal(SIGKILL)
      try await battery.errors(containing: "SIM0001 is gone: waiting for it to come back")
      _ = try await box.simulate("--percent", "12")
      #expect(try await battery.lines(2).last?.contains("  12 %") == true)
      try await battery.errors(containing: "SIM0001 is back")
      battery.signal(SIGINT)
      #expect(try await battery.end().status == 0)
    }
  }

  @Test func disconnectsAreDocumentsAmongReadings() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let battery = try box.start("battery", "--watch", "--json")
      _ = try await battery.lines(1)
      try await simulator.stop()
      _ = try await battery.lines(2)
      _ = try await box.simulate("--percent", "12")
      let documents = try await battery.lines(4).map { try JSON($0) }
      #expect(documents.map { $0["event"] } == [nil, "disconnected", "connected", nil])
      #expect(documents.map { $0["battery"]?["percent"] } == [57, nil, nil, 12])
      #expect(documents.allSatisfy { $0["device"]?["id"] == "SIM0001" })
      #expect(battery.transcript.value.errorText == "")
    }
  }

  /// Nobody but the accessory of this name is meant, also where no name was said.
  @Test func anotherOneIsNotTakenForIt() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57", "--serial", "A")
      let battery = try box.start("battery", "--watch")
      _ = try await battery.lines(1)
      try await simulator.stop()
      try await battery.errors(containing: "A is gone")
      _ = try await box.simulate("--percent", "99", "--serial", "B")
      _ = try await box.simulate("--percent", "12", "--serial", "A")
      #expect(try await battery.lines(2).last?.contains("  12 %") == true)
    }
  }

  @Test func traceGoesOnInTheSameRecording() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc")
      let trace = try box.start("trace", "./acc", "--ask", "--record", "session.trace")
      try await trace.line(containing: "reply BATTERY")
      simulator.program.signal(SIGKILL)
      try await trace.errors(containing: "SIM0001 is gone: waiting for it to come back")
      let count = trace.transcript.value.lines.count
      _ = try await box.simulate("--link", "acc")
      try await trace.line(from: count) { $0.contains("reply BATTERY") }
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0)
      // The time goes on, too.
      let times = ended.lines.compactMap { Double($0.split(separator: " ")[0]) }
      #expect(times == times.sorted() && times.count == ended.lines.count)
      #expect(try await box.run("trace", "session.trace").lines == ended.lines)
    }
  }

  @Test func valuesGoOnAfterAnUnplug() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--progress", "40")
      let values = try box.start("values", "SIM0001", "progress", "--watch", "--poll", "50ms")
      try await values.line { $0.hasPrefix("progress  40") }
      simulator.program.signal(SIGKILL)
      try await values.errors(containing: "SIM0001 is gone")
      _ = try await box.simulate("--progress", "41")
      try await values.line { $0.hasPrefix("progress  41") }
    }
  }

  // MARK: - Through the service

  @Test func commandsAndTheServiceWaitForTheSameAccessory() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let service = try await box.serve("--reconnect-tries", "forever")
      try await service.errors(containing: "SIM0001 is attached at")
      let battery = try box.start("battery", "--watch")
      let trace = try box.start("trace", "--ask")
      let once = try box.start("trace", "--ask", "--once")
      _ = try await battery.lines(1)
      for trace in [trace, once] { try await trace.line(containing: "reply BATTERY") }
      try await simulator.stop()
      for program in [battery, trace] { try await program.errors(containing: "SIM0001 is gone") }
      let ended = try await once.end()
      #expect(ended.status == EX_UNAVAILABLE && ended.errorText.contains("disconnected"), "\(ended.errorText)")
      // The service waits, and the reading that it keeps is none of an accessory that is back.
      let waiting = try box.start("battery", "--wait", "60s")
      _ = try await box.simulate("--percent", "12")
      #expect(try await battery.lines(2).last?.contains("  12 %") == true)
      #expect(try await waiting.end().outputText.hasPrefix("12 %"))
      try await trace.errors(containing: "SIM0001 is back")
    }
  }

  /// Who has the service let it go wants it for something else.
  @Test func whatIsLetGoIsNotOpened() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let followers = try [["battery", "--watch"], ["trace", "--ask"]].map { try box.start($0) }
      for follower in followers { _ = try await follower.lines(1) }
      #expect(try await box.run("detach", "SIM0001").status == 0)
      for follower in followers { #expect(try await follower.end().status == EX_UNAVAILABLE) }
    }
  }
}
