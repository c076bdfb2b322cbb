// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a person sees in a small window: lines that fit, broken between words.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct NarrowTerminalTests {
  /// Runs a command in a window of this size; returns the screen when it has ended.
  private func screen(
    _ command: String, columns: Int, rows: Int = 40, status: CInt = 0, _ prepare: (Sandbox) async throws -> Void
  ) async throws -> Lines {
    var screen: Lines = []
    try await Sandbox.with { box in
      try await prepare(box)
      try await Tmux.with(box, columns: columns, rows: rows) { tmux in
        try await tmux.type("clear; \(Sandbox.command) \(command); echo ended $?")
        try await tmux.press("Enter")
        screen = try await tmux.wait(for: "ended ")
      }
    }
    let end = screen.firstIndex { $0.hasPrefix("ended ") } ?? screen.endIndex
    #expect(screen[end] == "ended \(status)")
    return Lines(Array(screen[..<end]))
  }

  @Test func listFitsANarrowTerminal() async throws {
    let lines = try await screen("list", columns: 40) { _ = try await $0.simulate("--name", "ランプ") }
    #expect(lines.map { $0.split(separator: " ").first } == ["SERIAL", "SIM0001"])
    let wide = try await screen("list", columns: 80) { _ = try await $0.simulate("--name", "ランプ") }
    #expect(wide.count == 2 && wide[0].contains("NAME    MODEL") && wide[1].contains("ランプ  AF1-SIM"), "\(wide)")
  }

  /// Facts go on below their values, whole words in each line.
  @Test func infoIsBrokenBelowItsValues() async throws {
    let lines = try await screen("info", columns: 40) { _ = try await $0.simulate() }
    let start = try #require(lines.firstIndex { $0.hasPrefix("Line") })
    #expect(lines[start] == "Line          115200 baud, 8 data bits,")
    #expect(lines[start + 1] == "              no parity, 1 stop bit")
  }

  /// Long errors are broken between words, and not where the window ends.
  @Test(arguments: [40, 80, 120]) func errorsAreBrokenBetweenWords(columns: Int) async throws {
    let words =
      "bridge-cli: no service is running, and only a service keeps a history: start it with bridge-cli serve, or for "
      + "the system with systemctl start accessory-bridge"
    let lines = try await screen("battery --history", columns: columns, status: 69) { _ = try await $0.simulate() }
    #expect(lines.count == [40: 5, 80: 2, 120: 2][columns])
    #expect(lines.joined(separator: " ").split(separator: " ") == words.split(separator: " "))
    #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }, "\(lines)")
    // Elsewhere an error is one line.
    try await Sandbox.with { box in
      let ended = try await box.run("battery", "--history")
      #expect(ended.errorText == words + "\n")
    }
  }

  /// What will be sent is a table in any window.
  @Test(arguments: [40, 80]) func identifysPlanFitsANarrowTerminal(columns: Int) async throws {
    let lines = try await screen("identify SIM0001 --dry-run", columns: columns, rows: 120) {
      _ = try await $0.simulate()
    }
    let header = columns == 40 ? ["RATE", "KIND", "SENT"] : ["STEP", "RATE", "KIND", "TIMES", "SENT"]
    let start = try #require(lines.firstIndex { $0.split(separator: " ").map(String.init) == header })
    let indent = lines[start].count - "SENT".count
    #expect(lines[(start + 1)...].contains { $0.hasPrefix(String(repeating: " ", count: indent)) } == (columns == 40))
    #expect(lines.allSatisfy { $0.count <= columns })
  }

  /// The console's notices are broken between words, the first ones too.
  @Test func theConsolesNoticesAreBrokenBetweenWords() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A-LONG-SERIAL-NUMBER-1")
      try await Tmux.with(box, columns: 40, rows: 20) { tmux in
        try await tmux.type("clear; \(Sandbox.command) console A-LONG-SERIAL-NUMBER-1; echo ended $?")
        try await tmux.press("Enter")
        let lines = try await tmux.wait(for: "--- Ctrl-] ends")
        #expect(
          lines.contains("--- opening A-LONG-SERIAL-NUMBER-1") && lines.contains { $0.hasPrefix("    (/dev/pts/") })
        try await tmux.press("C-]")
        _ = try await tmux.wait(for: "ended 0")
      }
    }
  }

  /// With a service the list has more columns: some are left out, and it stays a table.
  @Test func listWithAServiceFitsANarrowTerminal() async throws {
    let lines = try await screen("list", columns: 40) { box in
      _ = try await box.simulate("--serial", "001653000001")
      let service = try await box.serve()
      try await service.errors(containing: "001653000001 is attached at")
    }
    #expect(lines.count == 2 && lines[0].hasPrefix("SERIAL") && lines[1].contains("attached"), "\(lines)")
  }

  @Test(arguments: [40, 80]) func profileListIsBrokenBelowItsDescriptions(columns: Int) async throws {
    let lines = try await screen("profile list", columns: columns, rows: 80) { _ in }
    #expect(lines.count > 5 && lines[0].hasSuffix("DESCRIPTION"))
    let indent = lines[0].count - "DESCRIPTION".count
    // What goes on stands below the first line's words.
    for line in lines.dropFirst() where line.hasPrefix(" ") {
      #expect(line.prefix { $0 == " " }.count == indent, "\(line)")
    }
  }

  /// More devices than the window has rows: while it scans, as many as there is room for, and in the end all of them.
  @Test(arguments: [40, 80]) func scanFitsTheWindowUntilItEnds(columns: Int) async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(
        kind: "hm10", "--central", "--neighbours", "30", "--scan-time", "500ms", "--seed", "3")
      try await Tmux.with(box, columns: columns, rows: 12) { tmux in
        try await tmux.type("clear; \(Sandbox.command) scan \(module.path) --timeout 4s; echo ended $?")
        try await tmux.press("Enter")
        let running = try await tmux.wait(for: "… ")
        #expect(running.count { $0.contains("signal") } == 1)
        #expect(running.contains { $0.hasSuffix(" more") }, "\(running)")
        let ended = try await tmux.wait(for: "ended 0")
        let numbers = ended.compactMap { Int($0.split(separator: " ").first ?? "") }
        #expect(numbers == Array((31 - numbers.count)...30) && numbers.count >= 9, "\(ended)")
      }
    }
  }
}
