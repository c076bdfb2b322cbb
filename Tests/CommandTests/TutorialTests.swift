// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Documentation/describing-tutorial.md is run as it is printed: its files are written, its command lines are given to a
/// shell, and what comes is compared with what the page shows. Times and numbers of terminals may differ.
@Suite(.timeLimit(.minutes(10))) struct TutorialTests {
  @Test func thePageIsTrue() async throws {
    let page = try Page("Documentation/describing-tutorial.md")
    try await Sandbox.with { box in
      var seat = Seat(box)
      for block in page.blocks {
        switch block.kind {
        case "yaml": try seat.write(block.lines)
        case "console": for step in Step.steps(of: block.lines) { try await seat.take(step) }
        default: break
        }
      }
      #expect(seat.fileCount == 2 && seat.commandCount > 15)
      try await seat.leave()
    }
  }
}

/// A command line of the page, with what it prints.
private struct Step: Sendable {
  var command: Substring
  var output: [Substring] = []
  /// Whether it runs until Ctrl-C.
  var isInterrupted = false
  /// Whether it goes on running in another terminal.
  var staysRunning: Bool { command.hasPrefix("bridge-cli simulate ") }

  static func steps(of lines: [Substring]) -> [Step] {
    var steps: [Step] = []
    for line in lines {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: line.dropFirst(2)))
      } else if line == "^C", !steps.isEmpty {
        steps[steps.count - 1].isInterrupted = true
      } else if !steps.isEmpty {
        steps[steps.count - 1].output.append(line)
      }
    }
    return steps
  }
}

/// Where somebody sits who does what the page says.
private struct Seat {
  private let box: Sandbox
  private var simulator: Program?
  var fileCount = 0
  var commandCount = 0

  init(_ box: Sandbox) { self.box = box }

  /// Writes a file, whose name is in its first line.
  mutating func write(_ lines: [Substring]) throws {
    let name = try #require(lines.first)
    #expect(name.hasPrefix("# ") && name.hasSuffix(".yaml"))
    try box.directory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: String(name.dropFirst(2)))
    fileCount += 1
  }

  mutating func take(_ step: Step) async throws {
    commandCount += 1
    if step.staysRunning { try await leave() }
    // exec: a signal is for the command, and not for the shell.
    let single = step.staysRunning || step.isInterrupted
    let program = try Program(
      ["/bin/sh", "-c", (single ? "exec " : "") + step.command], environment: environment,
      directory: box.directory.path, limit: Sandbox.longLife)
    if step.staysRunning || step.isInterrupted {
      let lines = try await program.lines(step.output.count)
      expect(lines, step)
      if step.isInterrupted {
        program.signal(SIGINT)
        let ended = try await program.end()
        expect(ended.lines, step)
        #expect(ended.errorText == "", "\(step.command)")
      } else {
        simulator = program
      }
      return
    }
    let ended = try await program.end()
    expect((ended.outputText + ended.errorText).split(separator: "\n").map(String.init), step)
  }

  /// Ends the simulator in the other terminal as Ctrl-C does.
  mutating func leave() async throws {
    simulator?.signal(SIGINT)
    _ = try await simulator?.end()
    simulator = nil
  }

  /// As of a user who has set nothing, and has nothing plugged in.
  private var environment: [String: String] {
    var variables = box.variables(["HOME": box.directory.path])
    variables["ACCESSORY_BRIDGE_PROFILES"] = nil
    variables["ACCESSORY_BRIDGE_PROTOCOLS"] = nil
    variables["XDG_CONFIG_HOME"] = nil
    let folder = Sandbox.command.split(separator: "/").dropLast().joined(separator: "/")
    variables["PATH"] = "/\(folder):/usr/bin:/bin"
    return variables
  }

  private func expect(_ lines: [String], _ step: Step) {
    let (shown, printed) = (step.output.map { Self.timeless(String($0)) }, lines.map(Self.timeless))
    #expect(printed == shown, "\(step.command)")
  }

  /// Without what differs from run to run.
  private static func timeless(_ line: String) -> String {
    line.replacing(#/[0-9]+\.[0-9]{6}\b/#, with: "TIME").replacing(#//dev/pts/[0-9]+/#, with: "TERMINAL")
  }
}
