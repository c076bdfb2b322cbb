// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

/// A shell in a window of tmux: a real terminal, whose screen the test can read.
struct Tmux {
  private let box: Sandbox
  private let variables: [String: String]
  private var socket: String { box.directory.path + "/tmux" }

  /// Opens a window of this size, runs `body`, and closes it whatever happens.
  static func with(_ box: Sandbox, columns: Int = 80, rows: Int = 20, _ body: (Tmux) async throws -> Void) async throws
  {
    var variables = box.variables(["NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PS1": "ready$ ", "HOME": box.directory.path])
    variables["TERM"] = "xterm-256color"
    let tmux = Tmux(box: box, variables: variables)
    try await tmux.run(
      "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "/bin/bash", "--norc", "--noprofile")
    do {
      try await tmux.wait(for: "ready$")
      try await body(tmux)
    } catch {
      _ = try? await tmux.run("kill-server")
      throw error
    }
    try await tmux.run("kill-server")
  }

  @discardableResult
  private func run(_ arguments: String...) async throws -> Program.Transcript {
    let ended = try await Program(
      ["/usr/bin/tmux", "-u", "-S", socket] + arguments, environment: variables, directory: box.directory.path
    ).end()
    // A screen that can't be asked for won't show anything later either.
    guard ended.status == 0 else { throw Hang("tmux \(arguments.joined(separator: " ")): \(ended.errorText)") }
    return ended
  }

  /// Types a text.
  func type(_ text: String) async throws { try await run("send-keys", "-l", text) }

  /// Presses keys by their names: "Enter", "C-c", "Up", "F1".
  func press(_ keys: String...) async throws { for key in keys { try await run("send-keys", key) } }

  func resize(columns: Int, rows: Int) async throws {
    try await run("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// What a person sees: the rows of the screen, without blanks at their ends.
  func screen() async throws -> Lines {
    Lines(
      try await run("capture-pane", "-p").lines.map { String($0.reversed().drop { $0 == " " }.reversed()) })
  }

  /// Waits until a row of the screen begins so; returns the screen.
  @discardableResult
  func wait(for row: String) async throws -> Lines {
    let end = ContinuousClock.now + Duration.seconds(30).patient
    while true {
      let screen = try await screen()
      if screen.contains(where: { $0.hasPrefix(row) }) { return screen }
      if ContinuousClock.now > end { throw Hang("\(row) on the screen:\n\(screen.joined(separator: "\n"))") }
    }
  }
}
