// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a person sees in a small window: lines that fit, broken between words.
@Suite(.timeLimit(.minutes(10))) struct NarrowTerminalTests {
  /// Runs a command in a window of this size; returns the screen when it has ended.
  private func screen(
    _ command: String, columns: Int, rows: Int = 40, _ prepare: (Sandbox) async throws -> Void
  ) async throws -> [String] {
    var screen: [String] = []
    try await Sandbox.with { box in
      try await prepare(box)
      try await Tmux.with(box, columns: columns, rows: rows) { tmux in
        try await tmux.type("clear; \(Sandbox.command) \(command); echo ended $?")
        try await tmux.press("Enter")
        screen = try await tmux.wait(for: "ended ")
      }
    }
    let end = screen.firstIndex { $0.hasPrefix("ended ") } ?? screen.endIndex
    #expect(screen[end] == "ended 0")
    return Array(screen[..<end])
  }

  @Test func list() async throws {
    let lines = try await screen("list", columns: 40) { _ = try await $0.simulate("--name", "ランプ") }
    #expect(lines.map { $0.split(separator: " ").first } == ["SERIAL", "SIM0001"])
    let wide = try await screen("list", columns: 80) { _ = try await $0.simulate("--name", "ランプ") }
    #expect(wide.count == 2 && wide[0].contains("NAME    MODEL") && wide[1].contains("ランプ  AF1-SIM"), "\(wide)")
  }

  /// Facts go on below their values, whole words in each line.
  @Test func info() async throws {
    let lines = try await screen("info", columns: 40) { _ = try await $0.simulate() }
    let start = try #require(lines.firstIndex { $0.hasPrefix("Line") })
    #expect(lines[start] == "Line          115200 baud, 8 data bits,")
    #expect(lines[start + 1] == "              no parity, 1 stop bit")
  }

  @Test(arguments: [40, 80]) func profiles(columns: Int) async throws {
    let lines = try await screen("profile list", columns: columns, rows: 80) { _ in }
    #expect(lines.count > 5 && lines[0].hasSuffix("DESCRIPTION"))
    let indent = lines[0].count - "DESCRIPTION".count
    // What goes on stands below the first line's words.
    for line in lines.dropFirst() where line.hasPrefix(" ") {
      #expect(line.prefix { $0 == " " }.count == indent, "\(line)")
    }
  }

  /// More devices than the window has rows: while it scans, as many as there is room for, and in the end all of them.
  @Test(arguments: [40, 80]) func scan(columns: Int) async throws {
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
