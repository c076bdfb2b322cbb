// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// A place where `bridge-cli` sees only what one test has put there: a runtime directory and a working directory.
final class Sandbox: Sendable {
  /// The working directory of the commands.
  let directory: TemporaryDirectory
  /// `XDG_RUNTIME_DIR` of the commands.
  let runtime: TemporaryDirectory
  private let programs = Locked<[Program]>([])
  private let terminals = Locked<[TerminalProgram]>([])

  private init() throws {
    directory = try TemporaryDirectory()
    runtime = try TemporaryDirectory()
  }

  /// Runs a test in a new sandbox, when there is a place. What it has started and left running is killed in the end.
  static func with(_ body: (Sandbox) async throws -> Void) async throws {
    await places.take()
    let result: Result<Void, any Error>
    do {
      let sandbox = try Sandbox()
      do {
        try await body(sandbox)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await sandbox.end()
    } catch {
      result = .failure(error)
    }
    await places.giveBack()
    try result.get()
  }

  /// So many tests have processes at a time: each of these needs an inotify instance or two, of which a user has 128.
  private static let places = Places(8)

  private func end() async {
    for program in terminals.withLock({ $0 }) {
      program.end(by: SIGKILL)
    }
    for program in programs.withLock({ $0 }) {
      program.signal(SIGKILL)
      _ = try? await program.end()
    }
  }

  // MARK: - Commands

  /// The command as it was built, which lies beside the test program; or an older one, of which files are written that
  /// newer ones are to read (Tests/Data/Compatibility/README.md).
  static let command: String = {
    if OldVersion.isRecording, let older = getenv("COMPATIBILITY_BRIDGE_CLI") { return String(cString: older) }
    let tests = linkTarget("/proc/self/exe") ?? ""
    return "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
  }()

  /// How long a program may live that serves others, which a busy machine may keep long.
  static let longLife = Duration.seconds(270)

  /// Starts `bridge-cli` with these arguments; `prefix` is a program that starts it in turn. It is killed after `limit`.
  @discardableResult
  func start(
    _ arguments: [String], environment: [String: String] = [:], output: Program.Output = .pipe, prefix: [String] = [],
    limit: Duration = .seconds(90)
  ) throws -> Program {
    let program = try Program(
      prefix + [Self.command] + arguments, environment: variables(environment), directory: directory.path,
      output: output, limit: limit)
    programs.withLock { $0.append(program) }
    return program
  }

  /// The environment of a command, with these variables.
  func variables(_ environment: [String: String] = [:]) -> [String: String] {
    var variables = [
      "XDG_RUNTIME_DIR": runtime.path, "TERM": "xterm", "PATH": "/usr/bin:/bin",
      "ACCESSORY_BRIDGE_SOURCES": "simulator",  // what is plugged into this machine is not for tests
      "ACCESSORY_BRIDGE_PROFILES": directory.path + "/profiles",
      "ACCESSORY_BRIDGE_PROTOCOLS": directory.path + "/protocols", "XDG_CONFIG_HOME": directory.path + "/config",
      "XDG_STATE_HOME": directory.path + "/state",
    ]
    variables.merge(environment) { $1 }
    return variables
  }

  /// Starts `bridge-cli` with these arguments at a terminal at which the test sits.
  func sit(_ arguments: String..., columns: Int = 100) throws -> TerminalProgram {
    try sit(arguments, columns: columns)
  }

  /// As above.
  func sit(_ arguments: [String], columns: Int = 100) throws -> TerminalProgram {
    // On a crash the runtime would look for its place first, which takes minutes on a busy machine.
    let environment = variables(["NO_COLOR": "1", "SWIFT_BACKTRACE": "enable=no"])
    let program = try TerminalProgram(
      [Self.command] + arguments, environment: environment, directory: directory.path, columns: columns)
    terminals.withLock { $0.append(program) }
    return program
  }

  /// Has a shell run a command line at a terminal at which the test sits.
  func sit(shell command: String, environment: [String: String], columns: Int = 100) throws -> TerminalProgram {
    let program = try TerminalProgram(
      ["/bin/sh", "-c", command], environment: environment, directory: directory.path, columns: columns,
      limit: Self.longLife)
    terminals.withLock { $0.append(program) }
    return program
  }

  /// Starts `bridge-cli` with these arguments.
  func start(_ arguments: String...) throws -> Program { try start(arguments) }

  /// Runs `bridge-cli` with these arguments to its end.
  func run(
    _ arguments: [String], environment: [String: String] = [:], output: Program.Output = .pipe, prefix: [String] = []
  ) async throws -> Program.Transcript {
    try await start(arguments, environment: environment, output: output, prefix: prefix).end()
  }

  /// Runs `bridge-cli` with these arguments to its end.
  func run(_ arguments: String...) async throws -> Program.Transcript { try await run(arguments) }

  // MARK: - Simulators

  /// A simulator as another process, plugged in.
  struct Simulator: Sendable {
    /// The process.
    let program: Program
    /// Its terminal.
    let path: String

    /// Ends it as Ctrl-C does.
    func stop() async throws {
      program.signal(SIGINT)
      try await program.end()
    }
  }

  /// Starts `simulate framed`, and waits until it is plugged in.
  func simulate(_ arguments: String...) async throws -> Simulator { try await simulate("framed", arguments) }

  /// Starts another simulator, and waits until it is plugged in.
  func simulate(kind: String, _ arguments: String...) async throws -> Simulator { try await simulate(kind, arguments) }

  private func simulate(_ kind: String, _ arguments: [String]) async throws -> Simulator {
    let program = try start(["simulate", kind] + arguments, limit: Self.longLife)
    let line = try await program.line(containing: " is plugged in at ")
    let place = line.split(separator: " is plugged in at ").last ?? ""
    return Simulator(program: program, path: String(place.prefix { $0 != "," }))
  }

  /// The names of the simulators' announcements.
  var announcements: [String] { runtime.names(in: "accessory-bridge/simulated").filter { !$0.hasPrefix(".") } }
}

extension Program.Transcript {
  /// Standard output as one JSON document.
  func json(_ location: SourceLocation = #_sourceLocation) throws -> JSON {
    #expect(lines.count == 1, "one document on one line", sourceLocation: location)
    return try JSON(outputText)
  }

  /// The lines of standard output but for those that say how far a transfer is.
  var results: [String] {
    outputText.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("{\"document\":\"progress\",") }
  }

  /// The last document, of a command that prints several.
  func lastJSON() throws -> JSON { try JSON(lines.last ?? "") }
}

/// Places that are taken and given back, first come, first served.
private actor Places {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
