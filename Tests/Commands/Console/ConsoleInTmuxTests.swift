// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `console` as a person sees it, in a real terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ConsoleInTmuxTests {
  /// From a shell to a shell, with the terminal as it was.
  private func withConsole(
    _ arguments: String, after prepare: (Sandbox) async throws -> Void = { _ in },
    _ body: (Tmux, Sandbox) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      try await prepare(box)
      try await Tmux.with(box) { tmux in
        try await tmux.type(
          "clear; stty -g > before; \(Sandbox.command) console \(arguments); echo ended $?; stty -g > after")
        try await tmux.press("Enter")
        try await body(tmux, box)
        try await tmux.press("C-]")
        try await tmux.wait(for: "ended 0")
        try await tmux.wait(for: "ready$")
        try await eventually("the settings afterwards") { !Self.settings(box, "after").isEmpty }
        #expect(Self.settings(box, "before") == Self.settings(box, "after"))
      }
    }
  }

  private static func settings(_ box: Sandbox, _ name: String) -> [UInt8] {
    (try? SmallFile.read(box.directory.path + "/" + name, limit: 1_000)) ?? []
  }

  @Test func theConsoleIsEditedResizedAndInterrupted() async throws {
    let accessory = try openPseudoTerminal(raw: true)
    try await withConsole(accessory.path) { tmux, _ in
      try await tmux.wait(for: ">")
      try await tmux.type("hello")
      try await tmux.press("Left", "Left", "BSpace")
      try await tmux.wait(for: "> helo")
      try await tmux.press("Enter")
      #expect(try await accessory.read(5) == Array("helo\n".utf8))
      try await accessory.write(Array("one\r\ntwo\r\nname: ".utf8))
      try await tmux.type("half a line")
      var screen = try await tmux.wait(for: "> half a line")
      let last = try #require(screen.lastIndex(of: "> half a line"))
      #expect(screen[(last - 3)..<last] == ["one", "two", "name:"])
      // Narrower, and what comes is above the line all the same.
      try await tmux.resize(columns: 40, rows: 15)
      try await accessory.write(Array("Bob\r\nthree\r\n".utf8))
      screen = try await tmux.wait(for: "three")
      #expect(screen.last { !$0.isEmpty } == "> half a line")
      try await tmux.resize(columns: 100, rows: 20)
      try await tmux.press("C-c")
      try await tmux.type("x")
      screen = try await tmux.wait(for: "> x")
      #expect(!screen.contains("> half a line"))
      try await tmux.press("Enter")
      #expect(try await accessory.read(2) == Array("x\n".utf8))
    }
  }

  @Test func keysInATerminalDriveARobot() async throws {
    let accessory = try openPseudoTerminal(raw: true)
    try await withConsole("\(accessory.path) --keys --driver bluno --settle 0s") { tmux, _ in
      try await tmux.wait(for: "[keys]")
      try await tmux.press("Up", "Right", "Space", "F1", "3")
      #expect(try await accessory.read(5) == Array("frsw2".utf8))
      try await tmux.wait(for: "[keys] task 2 Patrol")
    }
  }

  @Test func theConsoleSurvivesUnplugsAndAKilledService() async throws {
    let running = Watched<(accessory: Sandbox.Simulator, service: Program)?>(nil)
    try await withConsole(
      "SIM0001 --input hex",
      after: { box in
        let accessory = try await box.simulate("--link", "./acc")
        let service = try await box.serve()
        try await service.errors(containing: "SIM0001 is attached at")
        running.update { $0 = (accessory, service) }
      }
    ) { tmux, box in
      let (accessory, service) = try #require(running.value)
      try await tmux.wait(for: "--- SIM0001 is connected at")
      service.signal(SIGKILL)
      try await service.end()
      try await tmux.wait(for: "--- SIM0001 is gone")
      try await tmux.wait(for: "hex>")
      try await accessory.stop()
      try await tmux.wait(for: "(gone) hex>")
      let again = try await box.simulate("--link", "./acc")
      try await tmux.wait(for: "hex>")
      try await tmux.type("0ff01103010000002600")
      try await tmux.press("Enter")
      try await tmux.wait(for: "> 0ff01103010000002600")
      _ = again
    }
  }
}
