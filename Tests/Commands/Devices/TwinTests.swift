// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Two accessories with one serial number: whoever waits for one gets that one, and each has its name by its port.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TwinTests {
  /// When the other one of the two is plugged in.
  enum Other: String, CaseIterable, Sendable {
    case isThere, comesMeanwhile
  }

  /// Plugs one in. The link is its port: the number of a pseudo-terminal isn't a place.
  @discardableResult
  private func plug(_ link: String, _ percent: Int, _ box: Sandbox) async throws -> Sandbox.Simulator {
    try await box.simulate(
      "--serial", "0001", "--link", "\(box.directory.path)/\(link)", "--percent", "\(percent)", "--progress",
      "\(percent)")
  }

  private func id(_ link: String, _ box: Sandbox) -> String { "0001@\(box.directory.path)/\(link)" }

  /// Has a command use `a`, which goes, while `b` is or comes there, and comes back.
  private func follow(
    _ words: [String], _ other: Other, _ box: Sandbox, prefix: [String] = [],
    meanwhile: () async throws -> Void = {}, isInUse: (Program) async throws -> Void,
    isAgain: (Program) async throws -> Void
  ) async throws {
    if other == .isThere { try await plug("b", 80, box) }
    let first = try await plug("a", 40, box)
    let program = try box.start(words, prefix: prefix)
    try await isInUse(program)
    try await first.stop()
    try await program.transcript.wait {
      $0.status != nil || $0.errorText.contains("is gone")
        || ["\"disconnected\"", "\"closed\""].contains(where: $0.outputText.contains)
    }
    if other == .comesMeanwhile { try await plug("b", 80, box) }
    try await meanwhile()
    try await plug("a", 41, box)
    try await isAgain(program)
    program.signal(SIGINT)
    _ = try await program.end()
  }

  // MARK: - Waiting

  @Test(arguments: ["./a", "a"], Other.allCases)
  func batteryWaitsForItsOwn(name: String, other: Other) async throws {
    try await Sandbox.with { box in
      let name = name == "./a" ? name : box.directory.path + "/a"
      try await follow(["battery", name, "--watch"], other, box) { battery in
        try await battery.line(containing: "  40 %")
      } isAgain: { battery in
        try await battery.line(containing: "  41 %")
        let ended = battery.transcript.value
        #expect(!ended.outputText.contains("80 %"), "\(ended.outputText)")
        #expect(ended.errorText.contains("waiting for it to come back at \(box.directory.path)/a, because others"))
      }
    }
  }

  @Test(arguments: Other.allCases) func valuesWaitForTheirOwn(other: Other) async throws {
    try await Sandbox.with { box in
      try await follow(["values", "./a", "progress", "--watch", "--poll", "50ms"], other, box) { values in
        try await values.line { $0.hasPrefix("progress  40") }
      } isAgain: { values in
        try await values.line { $0.hasPrefix("progress  41") }
        #expect(!values.transcript.value.outputText.contains("progress  80"))
      }
    }
  }

  @Test(arguments: Other.allCases) func aTraceWaitsForItsOwn(other: Other) async throws {
    try await Sandbox.with { box in
      try await follow(["trace", "./a", "--ask"], other, box) { trace in
        try await trace.line { $0.contains("reply BATTERY") && $0.contains("40 %") }
      } isAgain: { trace in
        try await trace.line { $0.contains("reply BATTERY") && $0.contains("41 %") }
        #expect(!trace.transcript.value.outputText.contains("80 %"))
      }
    }
  }

  /// What was typed or piped for one is never sent to the other one.
  @Test(arguments: Other.allCases) func aConsoleWaitsForItsOwn(other: Other) async throws {
    try await Sandbox.with { box in
      let question = { () async throws in
        let sent = try await box.run(
          ["--version"], prefix: ["/bin/sh", "-c", "echo 0ff01103010000002600 > input"])
        #expect(sent.status == 0)
      }
      try await follow(
        ["console", "./a", "--input", "hex", "--reconnect", "--linger", "60s", "--json"], other, box,
        prefix: ["/bin/sh", "-c", #"mkfifo input && exec "$0" "$@" <>input"#], meanwhile: question
      ) { console in
        try await console.line(containing: #""event":"connected""#)
      } isAgain: { console in
        let received = try await console.line(containing: #""event":"received""#)
        // A level and 41 percent.
        #expect(received.contains("0229550e"), "\(received)")
        let links = try console.transcript.value.lines.map { try JSON($0) }
          .filter { $0["event"] == "connected" }.map { $0["device"]?["link"]?.text }
        #expect(links == [String](repeating: box.directory.path + "/a", count: 2))
      }
    }
  }

  @Test(arguments: Other.allCases) func aBridgeWaitsForItsOwn(other: Other) async throws {
    try await Sandbox.with { box in
      try await follow(["bridge", "./a", "--pty", "./end", "--on-unplug", "keep", "--json"], other, box) { bridge in
        try await bridge.line(containing: #""event":"opened""#)
      } isAgain: { bridge in
        let closed = try await bridge.lines(3).count
        try await bridge.line(from: closed) { $0.contains(#""event":"opened""#) }
        let links = try bridge.transcript.value.lines.map { try JSON($0) }
          .filter { $0["event"] == "opened" }.map { $0["device"]?["link"]?.text }
        #expect(links == [String](repeating: box.directory.path + "/a", count: 2))
      }
    }
  }

  /// The rest of a file isn't sent to the other one, by the command itself or by a service.
  @Test(arguments: [false, true]) func aFileIsSentOnToItsOwn(isServed: Bool) async throws {
    try await Sandbox.with { box in
      let service = isServed ? try await box.serve() : nil
      let other = try await plug("b", 80, box)
      try await service?.errors(containing: "0001 is attached at")
      let link = box.directory.path + "/a"
      let first = try await box.simulate(
        "--serial", "0001", "--link", link, "--largest-payload", "1028", "--unplug-after", "12")
      try await service?.errors(containing: "\(id("a", box)) is attached at")
      try box.directory.write([UInt8](repeating: 7, count: 20_000), to: "new.bin")
      let sending = try box.start("send-file", "./a", "new.bin", "--patience", "60s", "--json")
      try await first.program.end()
      try await sending.errors(containing: "is gone: waiting for it to come back")
      let again = try await box.simulate("--serial", "0001", "--link", link, "--largest-payload", "1028")
      let sent = try await sending.end()
      #expect(sent.status == 0, "\(sent.errorText)")
      #expect(try sent.lastJSON()["device"]?["link"]?.text == link)
      #expect(!other.program.transcript.value.outputText.contains("new.bin"))
      try await again.stop()
    }
  }

  /// An accessory that is attached in the foreground is attached again when it is back, and nothing else is.
  @Test func attachWaitsForItsOwn() async throws {
    try await Sandbox.with { box in
      try await plug("b", 80, box)
      let first = try await plug("a", 40, box)
      let attach = try box.start("attach", "./a", "--reconnect-tries", "forever")
      try await attach.errors(containing: "\(id("a", box)) is attached at \(first.path)")
      try await first.stop()
      try await attach.errors(containing: "waiting until it is connected again")
      let again = try await plug("a", 41, box)
      try await attach.errors(containing: "\(id("a", box)) is attached at \(again.path)")
      #expect(try await box.run("battery", id("a", box)).outputText.hasPrefix("41 %"))
      #expect(!attach.transcript.value.errorText.contains(id("b", box)))
    }
  }

  // MARK: - Names

  @Test func theSerialNumberOfTwoIsTheNameOfNeither() async throws {
    try await Sandbox.with { box in
      for (link, percent) in [("b", 80), ("a", 40)] { try await plug(link, percent, box) }
      let both = try await box.run("battery", "0001")
      #expect(both.status == EX_USAGE)
      #expect(both.errorText.contains("\(id("a", box)), \(id("b", box))"), "\(both.errorText)")
      for (link, percent) in [("a", 40), ("b", 80)] {
        let one = try await box.run("battery", id(link, box))
        #expect(one.outputText.hasPrefix("\(percent) %"), "\(one.errorText)")
      }
      let list = try await box.run("list", "--json").json()
      let ids = (0..<3).compactMap { list["devices"]?[$0]?["id"]?.text }
      #expect(ids.sorted() == [id("a", box), id("b", box)])
    }
  }

  /// Of a service, its history, its alarms and its exporters, whichever came first, whoever left, and after a restart.
  @Test(arguments: [["a", "b"], ["b", "a"]]) func namesAreThoseOfThePorts(order: [String]) async throws {
    try await Sandbox.with { box in
      let percents = ["a": 40, "b": 80]
      var simulators: [String: Sandbox.Simulator] = [:]
      func serve() async throws -> Program {
        try await box.serve("--reconnect-tries", "forever", "--alarm", "low: battery < 50 %")
      }
      var service = try await serve()
      for link in order {
        simulators[link] = try await plug(link, percents[link] ?? 0, box)
        // One after another: the first one is alone for a while.
        try await service.errors(
          containing: link == order[0] ? "0001 is attached at" : "\(id(link, box)) is attached at")
      }
      func check(_ links: [String]) async throws {
        for link in links {
          let percent = percents[link] ?? 0
          let battery = try await box.run("battery", id(link, box), "--json").json()
          #expect(battery["battery"]?["percent"]?.double == Double(percent))
          let history = try await box.run("battery", id(link, box), "--history", "--csv")
          #expect(
            history.outputText.contains("Z,\(percent).0,") && !history.outputText.contains("Z,\(120 - percent).0,"))
        }
      }
      try await check(["a", "b"])
      let (exporter, host) = try await export(box)
      func names() async throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try await client("/bin/upsc", "-l", host).lines {
          found[name] = try await client("/bin/upsc", "\(name)@\(host)", "battery.charge").outputText
        }
        return found
      }
      let folder = String(box.directory.path.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" })
      let all = ["0001_\(folder)_a": "40\n", "0001_\(folder)_b": "80\n"]
      try await eventually("both names", within: .seconds(60)) { try await names() == all }
      // Whoever leaves: the other one keeps its name, and the one that comes back has its own.
      try await simulators[order[0]]?.stop()
      try await service.errors(containing: "waiting until it is connected again")
      try await check([order[1]])
      simulators[order[0]] = try await plug(order[0], percents[order[0]] ?? 0, box)
      try await eventually("both names again", within: .seconds(60)) { try await names() == all }
      // After a restart only one is there.
      service.signal(SIGTERM)
      _ = try await service.end()
      try await simulators[order[0]]?.stop()
      service = try await serve()
      try await service.errors(containing: "\(id(order[1], box)) is attached at")
      try await check([order[1]])
      exporter.signal(SIGTERM)
      _ = try await exporter.end()
    }
  }

  private func export(_ box: Sandbox) async throws -> (Program, host: String) {
    let socket = box.runtime.path + "/accessory-bridge/readings.socket"
    let program = try box.start(["export", "nut", "--listen", "0", "--socket", socket], limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    return (program, String(line.dropFirst("nut:".count).dropLast(" is open".count)))
  }

  private func client(_ words: String...) async throws -> Program.Transcript {
    try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: "/").end()
  }

  /// Through the service, too, an accessory is followed over unplugs as itself.
  @Test(arguments: [["a", "b"], ["b", "a"]]) func whoFollowsTheServiceHasItsOwn(order: [String]) async throws {
    try await Sandbox.with { box in
      let service = try await box.serve("--reconnect-tries", "forever")
      var simulators: [String: Sandbox.Simulator] = [:]
      for (link, percent) in order.map({ ($0, $0 == "a" ? 40 : 80) }) {
        simulators[link] = try await plug(link, percent, box)
      }
      for link in order { try await service.errors(containing: "\(id(link, box)) is at") }
      let battery = try box.start("battery", id("a", box), "--watch")
      let values = try box.start("values", "./a", "progress", "--watch")
      try await battery.line(containing: "  40 %")
      try await values.line { $0.hasPrefix("progress  40") }
      for link in order { try await simulators[link]?.stop() }
      for program in [battery, values] { try await program.errors(containing: "is gone") }
      try await plug("b", 80, box)
      try await plug("a", 41, box)
      try await battery.line(containing: "  41 %")
      try await values.line { $0.hasPrefix("progress  41") }
      for program in [battery, values] { #expect(!program.transcript.value.outputText.contains("80")) }
    }
  }
}
