// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `top` as a person sees it, in a real terminal, from a shell to a shell.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TopTests {
  /// Runs `top` in a window, and checks that the shell finds its terminal as it was: the settings, and the screen.
  private func withTop(
    _ arguments: String = "", columns: Int = 80, rows: Int = 24, status: String = "0",
    after prepare: (Sandbox) async throws -> Void = { _ in },
    end: (Tmux, Sandbox) async throws -> Void = { tmux, _ in
      try await tmux.press("q")
    }, _ body: (Tmux, Sandbox) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      try await prepare(box)
      try await Tmux.with(box, columns: columns, rows: rows) { tmux in
        try await tmux.type(
          "clear; stty -g > before; echo 'what was here'; sh -c 'echo $$ > pid; exec \(Sandbox.command) top \(arguments)'"
        )
        try await tmux.press("Enter")
        try await body(tmux, box)
        try await end(tmux, box)
        try await Self.waitForPrompt(tmux)
        try await tmux.type("echo ended $?; stty -g > after")
        try await tmux.press("Enter")
        let screen = try await tmux.wait(for: "ended \(status)")
        #expect(screen.contains("what was here"), "\(screen)")
        try await eventually("the settings afterwards") { !Self.read(box, "after").isEmpty }
        #expect(Self.read(box, "before") == Self.read(box, "after"))
      }
    }
  }

  /// Waits for an empty prompt in the last row, not for one before it that a command has been typed at.
  private static func waitForPrompt(_ tmux: Tmux) async throws {
    try await eventually("a prompt") { try await tmux.screen().last { !$0.isEmpty } == "ready$" }
  }

  private static func read(_ box: Sandbox, _ name: String) -> [UInt8] {
    (try? SmallFile.read(box.directory.path + "/" + name, limit: 1_000)) ?? []
  }

  /// Rules of the command line: by the service in `top` itself, and beside those of a service that runs.
  @Test(arguments: [false, true]) func topRaisesAlarmsOfItsCommandLine(isServed: Bool) async throws {
    try await withTop(
      #"--alarm "low: battery < 20 %""#,
      after: { box in
        _ = try await box.simulate("--percent", "12")
        if isServed {
          let service = try await box.serve()
          try await service.errors(containing: "SIM0001 is attached at")
        }
      }
    ) { tmux, box in
      try await tmux.wait(for: "!! SIM0001 ")
      try await tmux.press("Enter")
      try await tmux.wait(for: "!! alarm: low (12 %)")
      // They are this screen's alone, unless it is the service.
      let listed = try await box.run("list", "--json").json()["devices"]?[0]?["service"]?["alarms"]
      #expect((listed?[0] == nil) == isServed)
      try await tmux.press("q")
      try await tmux.wait(for: "F1Help")
    }
  }

  /// Without a service `top` opens what is there, and others go through it.
  @Test(arguments: [(80, 24), (120, 40), (40, 20)]) func topWorksWithoutAService(columns: Int, rows: Int) async throws {
    try await withTop(
      columns: columns, rows: rows, after: { _ = try await $0.simulate("--percent", "57", "--name", "ランプ") }
    ) { tmux, box in
      let screen = try await tmux.wait(for: "   SIM0001 ")
      #expect(screen[0].hasPrefix("bridge-cli top (no service)"))
      // The row comes first, and then what it has been asked for.
      try await eventually("the battery") { try await tmux.screen().contains { $0.contains(" 57% ") } }
      #expect(try await box.run("battery", "SIM0001").outputText.hasPrefix("57 %"))
      try await tmux.press("Enter")
      try await tmux.wait(for: "State  idle")
      // A page that isn't whole yet may fit the screen: its end is then not where it will be.
      try await eventually("the end of the page") {
        try await tmux.press("End")
        return try await tmux.screen().contains { $0.contains("Model         AF1-SIM") }
      }
      try await tmux.press("q", "/")
      try await tmux.type("nobody")
      try await tmux.wait(for: " No accessory has \"nobody\"")
      try await tmux.press("Escape")
      try await tmux.wait(for: "   SIM0001 ")
      try await tmux.press("F1")
      try await tmux.wait(for: "Keys and marks")
      try await tmux.press("Escape")
      try await tmux.wait(for: "   SIM0001 ")
    }
  }

  @Test func aResizedWindowIsDrawnAnew() async throws {
    try await withTop(after: { _ = try await $0.simulate("--percent", "57") }) { tmux, _ in
      try await tmux.wait(for: "   SIM0001 ")
      for (columns, rows) in [(40, 10), (120, 40), (13, 4), (80, 24)] {
        try await tmux.resize(columns: columns, rows: rows)
        try await tmux.wait(for: "   SIM0001")
        try await eventually("a screen of \(columns) columns") {
          let screen = try await tmux.screen()
          return screen[rows - 1].hasPrefix("F1Help") && screen.allSatisfy { $0.count <= columns }
        }
      }
    }
  }

  @Test func aStoppedTopIsDrawnAgain() async throws {
    try await withTop(after: { _ = try await $0.simulate() }) { tmux, _ in
      try await tmux.wait(for: "   SIM0001 ")
      try await tmux.press("C-z")
      let screen = try await tmux.wait(for: "[1]+  Stopped")
      #expect(screen.contains("what was here"))
      try await Self.waitForPrompt(tmux)
      try await tmux.type("fg")
      try await tmux.press("Enter")
      try await tmux.wait(for: "   SIM0001 ")
    }
  }

  /// However it ends, the terminal is as it was.
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func aKilledTopLeavesTheTerminalAsItWas(signal: CInt) async throws {
    try await withTop(
      after: { _ = try await $0.simulate() },
      end: { _, box in
        let text = String(decoding: Self.read(box, "pid"), as: UTF8.self)
        let process = try #require(pid_t(text.split(separator: "\n").first ?? ""))
        #expect(kill(process, signal) == 0)
      }
    ) { tmux, _ in
      try await tmux.wait(for: "   SIM0001 ")
    }
  }

  @Test func topFollowsAServiceThatComesBack() async throws {
    let service = Watched<Program?>(nil)
    try await withTop(after: { box in
      _ = try await box.simulate("--percent", "57")
      let program = try await box.serve()
      try await program.errors(containing: "SIM0001 is attached at")
      service.update { $0 = program }
    }) { tmux, box in
      try await tmux.wait(for: "   SIM0001 ")
      let program = try #require(service.value)
      program.signal(SIGKILL)
      try await program.end()
      let screen = try await tmux.wait(for: "-  SIM0001 ")
      #expect(screen[0].hasPrefix("Waiting for the service at /"))
      let again = try await box.serve()
      try await again.errors(containing: "SIM0001 is attached at")
      try await tmux.wait(for: "   SIM0001 ")
      try await tmux.wait(for: "bridge-cli top")
      try await eventually("the battery") { try await tmux.screen()[2].contains(" 57% ") }
    }
  }

  /// An unplugged accessory stays in the list, and comes back.
  @Test func anUnpluggedAccessoryStaysInTop() async throws {
    let simulator = Watched<Sandbox.Simulator?>(nil)
    try await withTop(after: { box in
      let one = try await box.simulate()
      simulator.update { $0 = one }
    }) { tmux, box in
      try await tmux.wait(for: "   SIM0001 ")
      try await simulator.value?.stop()
      try await tmux.wait(for: "-  SIM0001 ")
      _ = try await box.simulate()
      try await tmux.wait(for: "   SIM0001 ")
    }
  }

  /// What a device says can't act on the terminal.
  @Test func hostileNamesInTopAreEscaped() async throws {
    try await withTop(after: { _ = try await $0.simulate("--name", "\u{1B}[2J\u{1B}]0;owned\u{7}x") }) { tmux, _ in
      try await tmux.wait(for: "   SIM0001 ")
      try await tmux.press("Enter")
      try await tmux.wait(for: "State  idle")
      try await tmux.press("End")
      try await tmux.wait(for: #"Name          \u{1b}[2J\u{1b}]0;owned\u{7}x"#)
      try await tmux.press("Escape")
      try await tmux.wait(for: "   SIM0001 ")
    }
  }

  /// A device that nobody knows gets nothing from `top` either.
  @Test func nothingIsSentToUnknownDevices() async throws {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      try await Tmux.with(box) { tmux in
        try await tmux.type("\(Sandbox.command) top")
        try await tmux.press("Enter")
        try await tmux.wait(for: "bridge-cli top")
        let attached = try await box.run("attach", recorder.path)
        #expect(attached.status == 0, "\(attached.errorText)")
        try await tmux.wait(for: "   \(recorder.path.prefix(8))")
        try await tmux.press("Enter")
        try await tmux.wait(for: "Path ")
        try await tmux.press("F10")
        try await tmux.wait(for: "ready$")
      }
      #expect(recorder.received() == [])
    }
  }

  @Test func topNeedsATerminal() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run("top")
      #expect(ended.status == EX_USAGE)
      for word in ["top needs a terminal", "battery --all", "list --json", "watch"] {
        #expect(ended.errorText.contains(word), "\(ended.errorText)")
      }
      let json = try await box.run("top", "--json")
      #expect(
        json.status == EX_USAGE && json.outputText.contains(#""error""#) && json.outputText.contains("list --json"))
      let fleet = Sandbox.command.replacing("bridge-cli", with: "bridge-fleet")
      let other = try await Program(
        [fleet, "top", "--broker", "mqtt://127.0.0.1:1"], environment: box.variables(), directory: box.directory.path
      ).end()
      #expect(other.status == EX_USAGE && other.errorText.contains("bridge-fleet list --json"), "\(other.errorText)")
      let wrong = try await box.run("top", "--sort", "weight")
      #expect(wrong.status == EX_USAGE)
    }
  }
}
