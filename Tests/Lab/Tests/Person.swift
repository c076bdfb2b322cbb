// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// An ordinary user who has just got this machine: may use sudo, has the packages of a build, and types what pages say.
struct Person {
  /// What a page says of a way: the commands of one of its blocks.
  struct Commands {
    let lines: [String]

    init(lines: [String]) { self.lines = lines }

    /// The first block of commands of the page that has this text.
    init(_ page: String, with text: String) throws {
      let blocks = try Page(page).blocks.filter { $0.kind == "sh" && $0.lines.contains { $0.contains(text) } }
      let block = try #require(blocks.first, "\(page) has no block of commands with \(text)")
      lines = block.lines.filter { !$0.isEmpty }.map { line in
        let command = line.hasPrefix("$ ") ? line.dropFirst(2) : line
        let comment = command.firstRange(of: "  #").map { command[..<$0.lowerBound] } ?? command
        return String(comment.reversed().drop { $0 == " " }.reversed())
      }
    }
  }

  private static let name = "alex"
  private let folder: TemporaryDirectory
  /// What was typed: commands, and answers to questions.
  private(set) var commands: [String] = []
  private(set) var answers: [String] = []

  init() async throws {
    // What `make install` has put here for other tests.
    if Kernel.exists(InstalledService.command) { #expect(try await InstalledService.make("uninstall").status == 0) }
    folder = try TemporaryDirectory()
    let root = ProjectFolder.path
    // The build is done outside. The index of the manual would take minutes to make here. A container's policy, which the guest may
    // have from its host, would keep services from being started.
    try folder.write(Array("#!/bin/sh\n[ \"$*\" = deb ]\n".utf8), to: "make", mode: 0o755)
    try folder.write(
      Array("DPkg::Options {\"--no-triggers\"; \"--force-unsafe-io\";};\nAPT::Get::Assume-Yes \"true\";\n".utf8),
      to: "99lab")
    let script = """
      set -e
      rm -rf /usr/sbin/policy-rc.d /etc/accessory-bridge /etc/udev/rules.d/71-accessory-bridge-*
      rm -rf /etc/systemd/system/accessory-bridge-nut.service.d
      cp 99lab /etc/apt/apt.conf.d/
      id \(Self.name) >/dev/null 2>&1 || useradd --create-home --shell /bin/bash \(Self.name)
      echo '\(Self.name) ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/lab
      chmod 440 /etc/sudoers.d/lab
      mkdir -p \(Self.home)/.build \(Self.home)/bin
      ln -sfn \(root)/.build/lab/packages/1 \(Self.home)/.build/deb
      install -m 755 make \(Self.home)/bin/make
      grep -q broker.example /etc/hosts || echo 127.0.0.1 broker.example >>/etc/hosts
      systemctl start dbus.socket
      """
    let made = try await Program(
      ["/bin/sh", "-c", script], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], directory: folder.path
    ).end()
    try #require(made.status == 0, "\(made.errorText)")
  }

  static let home = "/home/\(name)"

  /// A terminal of a new login: it has the groups that the user has by now.
  func sit(_ command: String) throws -> TerminalProgram {
    try TerminalProgram(
      [
        "/usr/bin/setpriv", "--reuid=\(Self.name)", "--regid=\(Self.name)", "--init-groups", "/bin/bash", "-c", command,
      ],
      environment: [
        "PATH": "\(Self.home)/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": Self.home, "USER": Self.name,
        "TERM": "xterm",
        "LANG": "C.UTF-8", "NO_COLOR": "1",
      ], directory: Self.home, columns: 160, limit: .seconds(900))
  }

  /// Types all commands, and answers each question as `dialogue` shows it, which is what a page prints of one. Returns all that is
  /// on the terminals.
  mutating func type(_ all: Commands, _ dialogue: Dialogue = Dialogue()) async throws -> String {
    var text = ""
    for command in all.lines {
      let terminal = try sit(command)
      commands.append(command)
      if command.contains("bridge-cli") {
        answers += try await dialogue.answer(at: terminal)
      } else {
        try await terminal.end()
      }
      let (status, shown) = (terminal.state.value.status, terminal.state.value.text)
      print("lab: $ \(command)\n" + PrintedText.lines(shown).map { "lab: | \($0)" }.joined(separator: "\n"))
      try #require(status == 0, "\(command) ended with \(status ?? -1): \(shown)")
      text += shown
    }
    return text
  }

  /// What a command prints that the user types to look.
  func see(_ command: String) async throws -> String {
    let terminal = try sit(command)
    try await terminal.end()
    return terminal.state.value.text
  }

  /// Prints how long the way was, and fails where it has more than three commands beside those that install.
  func count(_ story: String, installing: Int) {
    let own = commands.count - installing
    print("lab: \(story): \(installing) commands install, \(own) more, \(answers.count) questions answered")
    #expect(own <= 3, "\(story) takes \(commands)")
  }
}

/// Lines of a terminal without what moves the cursor.
enum PrintedText {
  static func lines(_ text: String) -> [String] {
    text.replacing(#/\u{1B}\[[0-9;?]*[A-Za-z]/#, with: "").split(whereSeparator: \.isNewline).map(String.init)
  }
}

/// The questions of a page with their answers: a line is a question, and what was typed behind it.
struct Dialogue {
  private let lines: [String]

  init() { lines = [] }

  /// The blocks of the pages that have these questions.
  init(_ pages: (page: String, question: String)...) throws {
    lines = try pages.flatMap { page, question in
      let block = try Page(page).blocks.first { $0.lines.contains { $0.hasPrefix(question) } }
      return try #require(block, "\(page) has no \(question)").lines.map(String.init)
    }
  }

  /// Types the answers until the program ends, and returns them. A question that the pages don't have is an error.
  func answer(at terminal: TerminalProgram) async throws -> [String] {
    var typed: [String] = []
    var seen = 0
    var (count, since) = (0, MonotonicTime.now)
    while terminal.state.value.status == nil {
      await IOThread.shared.sleep(for: .milliseconds(300))
      let output = terminal.state.value.output
      // Is it all of the question, and has nothing come behind it?
      guard output.count == count else {
        (count, since) = (output.count, .now)
        continue
      }
      guard let question = Self.question(output[seen...]) else {
        if MonotonicTime.now - since < Duration.seconds(60).patient { continue }
        terminal.end(by: SIGKILL)
        throw Hang("more of this:\n\(terminal.state.value.text)")
      }
      guard let line = lines.first(where: { $0.hasPrefix(question) }) else {
        terminal.end(by: SIGKILL)
        throw Hang("the pages to say \"\(question)\":\n\(terminal.state.value.text)")
      }
      let rest = line.dropFirst(question.count).drop { $0 == " " }
      let answer = rest.hasPrefix("[") ? rest.drop { $0 != "]" }.dropFirst().drop { $0 == " " } : rest
      seen = output.count
      typed.append(String(answer))
      terminal.type(answer + "\n")
    }
    return typed
  }

  /// The question that the text ends with, without its usual answer.
  private static func question(_ output: ArraySlice<UInt8>) -> String? {
    let last = output.split(separator: 0x0A, omittingEmptySubsequences: false).last ?? []
    let text = String(decoding: last, as: UTF8.self).replacing(#/\u{1B}\[[0-9;?]*[A-Za-z]|\r/#, with: "")
    guard let match = text.wholeMatch(of: #/(.*[?:.])( \[.*\])? /#) else { return nil }
    return String(match.output.1)
  }
}
