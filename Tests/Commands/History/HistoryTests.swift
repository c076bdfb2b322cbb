// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The history with the real program: how it is shown, and what of it survives.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct HistoryTests {
  @Test func itIsShownInAllForms() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let battery = try await box.run("battery", "SIM0001", "--wait", "10")
      #expect(battery.status == 0)
      let document = try await box.run("battery", "--history", "--json").json()
      #expect(document["device"]?["id"]?.text == "SIM0001")
      let series = document["series"]?.elements ?? []
      #expect(series.contains { $0["name"]?.text == "battery.percent" })
      let table = try await box.run("battery", "SIM0001", "--history", "30m", "--csv")
      #expect(table.lines.first?.hasPrefix("time,battery.percent (%)") == true, "\(table.outputText)")
      #expect(table.lines.count > 1 && table.lines[1].contains("Z,57"))
      let graph = try await box.run("battery", "--history", "1h")
      #expect(graph.outputText.contains("Charge 57 %"), "\(graph.outputText)\(graph.errorText)")
      #expect(graph.lines.allSatisfy { $0.count <= 80 && $0.utf8.count == $0.count }, "the locale here isn't UTF-8")
      let picture = try await box.run("battery", "--history", "--plot", "battery.svg")
      #expect(picture.status == 0 && picture.errorText.contains("battery.svg"))
      let again = try await box.run("battery", "--history", "--plot", "battery.svg")
      #expect(again.status == EX_CANTCREAT, "a file that is there isn't replaced")
      let values = try await box.run("values", "SIM0001", "nothing", "--history")
      #expect(values.status == EX_USAGE && values.errorText.contains("there is no history of nothing"))
      // The other names are told, although the service was asked for this one.
      for words in [
        ["values", "SIM0001", "amount", "--history"], ["history", "SIM0001", "battery.percent", "amount"],
      ] {
        let unknown = try await box.run(words)
        #expect(
          unknown.status == EX_USAGE
            && unknown.errorText.contains("there is no history of amount: there is history of battery.percent"),
          "\(unknown.errorText)")
      }
    }
  }

  /// Nobody looks at a straight line of the software's version; who names it gets it.
  @Test func constantsAreDrawnOnlyIfTheyAreNamed() async throws {
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate", "--profile", "jbd", "--serial", "PACK1"], limit: Sandbox.longLife)
      try await simulator.line(containing: " is plugged in at ")
      let service = try await box.serve()
      try await service.errors(containing: "PACK1 is attached at")
      for reading in ["battery", "values"] { #expect(try await box.run(reading, "PACK1").status == 0) }
      let drawn = try await box.run("history", "PACK1")
      #expect(drawn.outputText.hasPrefix("Charge 72 %") && drawn.outputText.contains("Voltage 58.88 V"))
      for constant in ["Software version", "Cell count"] { #expect(!drawn.outputText.contains(constant)) }
      #expect(drawn.errorText.contains("Not drawn unless named: ") && drawn.errorText.contains("cell_count"))
      let picture = try await box.run("history", "PACK1", "--plot", "a.svg")
      #expect(picture.status == 0)
      let named = try await box.run("history", "PACK1", "cell_count")
      #expect(named.outputText.contains("Cell count 15"), "\(named.outputText)\(named.errorText)")
      let series = try await box.run("history", "PACK1", "--json").json()["series"]?.elements ?? []
      let count = series.first { $0["name"]?.text == "cell_count" }
      #expect(count?["importance"]?.text == "rated")
    }
  }

  @Test func allBatteriesAreShownInOneTable() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57", "--serial", "A")
      _ = try await box.simulate("--percent", "12", "--serial", "B")
      let table = try await box.run("battery", "--all")
      #expect(table.lines.count == 3 && table.lines[0].hasPrefix("ACCESSORY"), "\(table.outputText)\(table.errorText)")
      #expect(table.lines.contains { $0.hasPrefix("A ") && $0.contains("57 %") })
      let service = try await box.serve()
      for name in ["A", "B"] { try await service.errors(containing: "\(name) is attached at") }
      let document = try await box.run("battery", "--all", "--json").json()
      let percents = (document["batteries"]?.elements ?? []).compactMap { $0["battery"]?["percent"] }
      #expect(percents.count == 2 && percents.contains(57) && percents.contains(12))
    }
  }

  @Test(arguments: [
    ["battery", "--csv"], ["battery", "--plot", "x.svg"], ["battery", "--history", "401d"],
    ["battery", "--history", "--watch"], ["battery", "--history", "--csv", "--json"], ["battery", "X", "--all"],
    ["battery", "--all", "--watch"], ["values", "--history", "0s"],
    // Only SVG is written.
    ["battery", "--history", "--plot", "a.png"], ["values", "--history", "1h", "--plot", "a.svg.pdf"],
    ["history", "--plot", "a.png"], ["history", "--plot", "picture"], ["history", "--plot", ".svg"],
  ])
  func wrongUseOfTheHistoryIsAnError(words: [String]) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(words)
      #expect(ended.status == EX_USAGE, "\(ended.errorText)")
    }
  }

  @Test func theHistoryNeedsAService() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let ended = try await box.run("battery", "--history")
      #expect(ended.status == 69 && ended.errorText.contains("bridge-cli serve"), "\(ended.errorText)")
    }
  }

  private static func points(_ box: Sandbox) async throws -> Int {
    let document = try await box.run("battery", "SIM0001", "--history", "--json").json()
    return (document["series"]?.elements ?? []).reduce(0) { $0 + ($1["points"]?.elements.count ?? 0) }
  }

  /// SIGTERM writes; SIGKILL of the next run leaves what was written before, also behind a torn end.
  @Test func theHistoryIsKeptOverRestartsAndKills() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let first = try await box.serve()
      try await first.errors(containing: "SIM0001 is attached at")
      try await eventually("a first reading") { try await Self.points(box) > 0 }
      first.signal(SIGTERM)
      #expect(try await first.end().status == 0)
      try await simulator.stop()
      let path = box.directory.path + "/state/accessory-bridge/history"
      let torn = Glibc.open(path, O_WRONLY | O_APPEND)
      try #require(torn >= 0)
      #expect(Glibc.write(torn, [UInt8]([0xAB, 0x48, 0x52, 0x31, 9, 0, 0, 0, 1, 2]), 10) == 10)
      close(torn)
      let second = try await box.serve()
      try await second.errors(containing: "10 damaged bytes were dropped")
      try await eventually("what the first run has written") { try await Self.points(box) > 0 }
      second.signal(SIGKILL)
      _ = try await second.end()
      let third = try await box.serve()
      try await eventually("what the first run has written") { try await Self.points(box) > 0 }
      third.signal(SIGTERM)
      #expect(try await third.end().status == 0)
    }
  }

  /// A folder that can't be made, and a disk without room: the log says it once, and the service goes on.
  @Test(.disabled(if: ThisProcess.isSanitized, "a sanitizer's own files are larger"))
  func theServiceRunsWhereNoHistoryCanBeWritten() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      let service = try box.start(["serve"], environment: ["XDG_STATE_HOME": "/dev/null"], limit: Sandbox.longLife)
      try await service.errors(containing: "SIM0001 is attached at")
      try await eventually("a first reading") { try await Self.points(box) > 0 }
      service.signal(SIGTERM)
      let ended = try await service.end()
      #expect(ended.status == 0)
      #expect(
        ended.errorText.contains("the history can't be read") && ended.errorText.contains("/dev/null"),
        "\(ended.errorText)")
      let full = try box.start(
        ["serve"], prefix: ["/bin/sh", "-c", #"ulimit -f 0; exec "$0" "$@""#], limit: Sandbox.longLife)
      try await full.errors(containing: "SIM0001 is attached at")
      try await eventually("a first reading") { try await Self.points(box) > 0 }
      full.signal(SIGTERM)
      let without = try await full.end()
      #expect(without.status == 0, "\(without.errorText)")
      #expect(without.errorText.ranges(of: "the history can't be written").count == 1, "\(without.errorText)")
    }
  }
}
