// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Where somebody sits who does what a page says: a folder, a home of its own, and terminals that are wide enough for every line.
struct PageSeat: ~Copyable {
  private let box: Sandbox
  private let page: PageScript
  /// What runs in other terminals, or behind `&`.
  private var running: [TerminalProgram] = []
  /// What runs in the other terminal, until the page starts the next one there.
  private var other: TerminalProgram?

  init(_ page: PageScript, _ box: Sandbox) {
    (self.page, self.box) = (page, box)
  }

  /// Starts what the page takes for granted, as real accessories, and plugs it in.
  mutating func prepare() async throws {
    for words in page.stage {
      try await begin("exec bridge-cli simulate " + words).wait(for: " is plugged in at ")
    }
  }

  /// Does all that the page says, in its order.
  mutating func work() async throws {
    for block in page.page.blocks {
      switch block.kind {
      case "yaml": try write(block.lines)
      case "console": for step in PageStep.steps(of: block.lines) { try await take(step) }
      default: break
      }
    }
  }

  /// Writes a file, if its name is in its first line.
  private func write(_ lines: [Substring]) throws {
    guard let first = lines.first, first.hasPrefix("# ") else { return }
    let name = first.dropFirst(2).prefix { $0 != ":" && $0 != " " }
    guard name.hasSuffix(".yaml") else { return }
    let path = name.hasPrefix("~/") ? name.dropFirst(2) : name
    try box.directory.makeFolders(of: String(path))
    try box.directory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: String(path))
  }

  private mutating func take(_ step: PageStep) async throws {
    if step.isInTheOtherTerminal { try await leave() }
    // What it prints first says that it runs, and can be told to end.
    #expect(!step.staysRunning || !step.output.isEmpty, "\(page.page.name): what does it print? $ \(step.command)")
    // exec: a signal is for the command, and not for the shell.
    let single = step.staysRunning || step.isInterrupted
    let program = try start((single ? "exec " : "") + page.played(step.command))
    if step.staysRunning || step.isInterrupted {
      let (page, places) = (page, places)
      _ = try await program.state.wait {
        $0.status != nil || page.doesMatch(places.named(PageStep.printed($0.text)), step.output)
      }
    }
    if step.staysRunning {
      expect(program, step)
      if step.isInTheOtherTerminal { other = program } else { running.append(program) }
      return
    }
    if step.isInterrupted { program.signal(SIGINT) }
    try await program.end()
    expect(program, step)
  }

  /// Ends what is in the other terminal as Ctrl-C does.
  mutating func leave() async throws {
    guard let other else { return }
    other.signal(SIGINT)
    try await other.end()
    self.other = nil
  }

  private mutating func begin(_ command: String) throws -> TerminalProgram {
    let program = try start(command)
    running.append(program)
    return program
  }

  private var places: PagePlaces { PagePlaces(home: box.directory.path, runtime: box.runtime.path) }

  private func start(_ command: String) throws -> TerminalProgram {
    try box.sit(shell: command, environment: environment, columns: 250)
  }

  /// As of a user who has set nothing, and has nothing plugged in.
  private var environment: [String: String] {
    var variables = box.variables(["HOME": box.directory.path, "NO_COLOR": "1", "LANG": "C.UTF-8", "USER": "me"])
    variables["ACCESSORY_BRIDGE_PROFILES"] = nil
    variables["ACCESSORY_BRIDGE_PROTOCOLS"] = nil
    variables["XDG_CONFIG_HOME"] = nil
    let folder = Sandbox.command.split(separator: "/").dropLast().joined(separator: "/")
    variables["PATH"] = "/\(folder):/usr/bin:/bin"
    return variables
  }

  private func expect(_ program: TerminalProgram, _ step: PageStep) {
    let printed = places.named(PageStep.printed(program.state.value.text))
    #expect(
      page.doesMatch(printed, step.output),
      """
      \(page.page.name): $ \(step.command)
      the page shows:
      \(step.output.joined(separator: "\n"))
      the command prints:
      \(printed.joined(separator: "\n"))
      """)
  }
}
