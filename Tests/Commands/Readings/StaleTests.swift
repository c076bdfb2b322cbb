// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What commands show of readings that are older than they should be, as a service tells of them.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct StaleTests {
  private static func device(_ path: String) -> String {
    #"{"id":"X1","path":"\#(path)","source":"simulator","serial":"X1","links":[],"ways":[],"initialized":true}"#
  }
  private static func answers(_ path: String = "/dev/pts/1", isStale: Bool) -> [String: [String]] {
    let age = #""age_ms":185000"# + (isStale ? #","stale":true"# : "")
    let device = device(path)
    return [
      "List": [
        #"{"accessories":[{"device":\#(device),"state":"lent","tries":0,"holder":"process 7","driver":"framed","#
          + #""readings_age_ms":185000\#(isStale ? #","stale":true"# : "")}]}"#
      ],
      "Battery": [
        #"{"device":\#(device),"battery":{"level":"low","level_origin":"reported","charge":"unknown"},\#(age)}"#
      ],
      "Status": [
        #"{"device":\#(device),"status":{"state":"idle"},"identity":{"manufacturer":"","name":"","model":"","#
          + #""serial":"","firmware":"","hardware":""},\#(age)}"#
      ],
      "Values": [#"{"device":\#(device),"values":[{"name":"u","kind":"number","number":1,"unit":"V",\#(age)}]}"#],
    ]
  }

  private func run(_ words: [String], isStale: Bool) async throws -> Program.Transcript {
    var ended: Program.Transcript?
    try await Sandbox.with { box in
      let place = box.directory.path + "/socket"
      let service = try CannedService(at: place, Self.answers(isStale: isStale))
      defer { service.close() }
      ended = try await box.run(words, environment: ["ACCESSORY_BRIDGE_SOCKET": place])
    }
    return try #require(ended)
  }

  @Test(arguments: ["battery", "status", "values"]) func staleReadingsAreMarkedAsStale(_ command: String) async throws {
    let stale = try await run([command, "X1"], isStale: true)
    #expect(stale.status == 0 && stale.outputText.contains("3 min 05 s"), "\(stale.outputText)")
    #expect(stale.outputText.lowercased().contains("stale"))
    let fresh = try await run([command, "X1"], isStale: false)
    #expect(fresh.status == 0 && !fresh.outputText.lowercased().contains("stale"))
    let json = try await run([command, "X1", "--json"], isStale: true)
    #expect(json.outputText.contains(#""stale":true"#) && json.outputText.contains(#""age_ms":185000"#))
    #expect(!(try await run([command, "X1", "--json"], isStale: false)).outputText.contains(#""stale":true"#))
  }

  /// `list` opens nothing: what it shows of readings, the service that holds the accessory has told.
  @Test func listMarksStaleReadings() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      for (isStale, text) in [(true, "3 min 05 s, stale"), (false, "3 min 05 s")] {
        let place = box.directory.path + "/\(isStale)"
        let service = try CannedService(at: place, Self.answers(simulator.path, isStale: isStale))
        defer { service.close() }
        let environment = ["ACCESSORY_BRIDGE_SOCKET": place]
        let table = try await box.run(["list"], environment: environment)
        #expect(table.lines.first?.hasSuffix("READ") == true && table.lines.last?.hasSuffix("  " + text) == true)
        let json = try await box.run(["list", "--json"], environment: environment).json()
        #expect(json["devices"]?[0]?["service"]?["readings_age_ms"] == 185_000)
        #expect(json["devices"]?[0]?["service"]?["stale"] == (isStale ? true : false))
      }
      let alone = try await box.run("list")
      #expect(alone.lines.first?.contains("READ") == false)
      try await simulator.stop()
    }
  }
}
