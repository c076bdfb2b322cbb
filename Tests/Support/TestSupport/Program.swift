// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CTestShims
import Dispatch
import Glibc
import SystemPackage

/// A program that runs as another process, and all that it prints.
public final class Program: Sendable {
  /// What a program has printed, and how it ended.
  public struct Transcript: Sendable {
    /// Standard output so far.
    public var output: [UInt8] = []
    /// Standard error so far.
    public var errors: [UInt8] = []
    /// Its exit status, or the negative number of the signal that killed it; nil while it runs.
    public var status: CInt?
    /// Whether it was killed because it ran too long.
    public var isHung = false

    /// Standard output's finished lines.
    public var lines: Lines {
      Lines(
        output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
          .map { String(decoding: $0, as: UTF8.self) })
    }
    /// Standard output as text.
    public var outputText: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
  }

  /// Where a program's standard output goes.
  public enum Output: Sendable {
    /// Into a pipe.
    case pipe
    /// To a terminal of its own, as where a person looks on.
    case terminal
  }

  /// What the program has done so far.
  public let transcript = Watched(Transcript())
  /// Its process id.
  public let pid: pid_t
  private let words: [String]

  /// Starts the program `words[0]`, sought in PATH unless it is a path, with the other words as its arguments.
  ///
  /// It gets nothing of this process but what is said here and the options of sanitizers; signals do in it what they do by default. It is killed
  /// when it is let go of, and after `limit`, longer on a slow machine: `Patience`.
  public init(
    _ words: [String], environment: [String: String], directory: String, output: Output = .pipe,
    limit: Duration = .seconds(90)
  ) throws {
    let standardOutput = try output == .pipe ? Channel.pipe() : Channel.terminal()
    let standardError = try Channel.pipe()
    pid = try Self.spawn(words, environment, directory, standardOutput.theirs, standardError.theirs)
    self.words = words
    for channel in [standardOutput, standardError] { close(channel.theirs) }
    let (transcript, pid) = (transcript, pid)
    DispatchQueue(label: "test.program").async {
      Self.follow(pid, standardOutput.ours, standardError.ours, transcript, until: ContinuousClock.now + limit.patient)
    }
  }

  deinit { signal(SIGKILL) }

  /// Sends it a signal, if it still runs.
  public func signal(_ number: CInt) {
    transcript.update { [pid] in if $0.status == nil { _ = kill(pid, number) } }
  }

  // MARK: - Waiting

  /// Waits for a finished line of standard output that `isWanted`, from line `start` on, and returns it.
  @discardableResult
  public func line(from start: Int = 0, _ isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
    let state = try await transcript.wait { $0.status != nil || $0.lines.dropFirst(start).contains(where: isWanted) }
    guard let line = state.lines.dropFirst(start).first(where: isWanted) else { throw hang("a line", state) }
    return line
  }

  /// Waits for a finished line that contains `text`.
  @discardableResult
  public func line(containing text: String) async throws -> String { try await line { $0.contains(text) } }

  /// Waits for `count` finished lines, and returns them.
  public func lines(_ count: Int) async throws -> [String] {
    let state = try await transcript.wait { $0.status != nil || $0.lines.count >= count }
    guard state.lines.count >= count else { throw hang("\(count) lines", state) }
    return Array(state.lines.prefix(count))
  }

  /// Waits for its end.
  @discardableResult
  public func end() async throws -> Transcript {
    let state = try await transcript.wait { $0.status != nil }
    if state.isHung { throw hang("its end", state) }
    return state
  }

  private func hang(_ what: String, _ state: Transcript) -> Hang {
    let ending = state.isHung ? "hung" : "ended with \(state.status.map(String.init) ?? "?")"
    return Hang("\(what) of \(words), which \(ending):\n\(state.outputText)\n\(state.errorText)")
  }
}

extension Program {
  private static func spawn(
    _ words: [String], _ environment: [String: String], _ directory: String, _ output: CInt, _ errors: CInt
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // Tests run side by side: nothing that another has open may stay open in here.
    _ = test_spawn_closing(&actions, 3)
    _ = test_spawn_in(&actions, directory)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var argv = words.map { strdup($0) } + [nil]
    var envp = ThisProcess.variablesForPrograms.merging(environment) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var pid: pid_t = 0
    let result = posix_spawnp(&pid, words[0], &actions, &attributes, &argv, &envp)
    guard result == 0 else { throw Errno(rawValue: result) }
    return pid
  }

  /// Reads what a program prints until it is gone.
  private static func follow(
    _ pid: pid_t, _ output: CInt, _ errors: CInt, _ transcript: Watched<Transcript>, until end: ContinuousClock.Instant
  ) {
    var entries = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while entries.contains(where: { $0.fd >= 0 }) {
      let left = (end - ContinuousClock.now).components.seconds
      if poll(&entries, 2, CInt(max(0, left) * 1_000 + 1)) == 0 {
        kill(pid, SIGKILL)
        transcript.update { $0.isHung = true }
        break
      }
      for index in entries.indices where entries[index].fd >= 0 && entries[index].revents != 0 {
        let count = read(entries[index].fd, &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count))
        transcript.update { index == 0 ? $0.output.append(contentsOf: bytes) : $0.errors.append(contentsOf: bytes) }
        // A terminal that nobody has open any more reads as an error.
        if count <= 0 { entries[index].fd = -1 }
      }
    }
    close(output)
    close(errors)
    var information = siginfo_t()
    while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    // Reaped where `signal` can't be at the same time, so that its number isn't another's by then.
    transcript.update { state in
      var raw: CInt = 0
      waitpid(pid, &raw, 0)
      state.status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    }
  }
}

/// Two ends: one to read from here, one for the program to write to.
private struct Channel {
  var ours: CInt
  var theirs: CInt

  static func pipe() throws -> Channel {
    var ends: [CInt] = [0, 0]
    guard test_pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
    return Channel(ours: ends[0], theirs: ends[1])
  }

  static func terminal() throws -> Channel {
    var name = [CChar](repeating: 0, count: 128)
    let ours = test_openpt(&name, name.count)
    guard ours >= 0 else { throw Errno(rawValue: errno) }
    let theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard theirs >= 0 else { throw Errno(rawValue: errno) }
    return Channel(ours: ours, theirs: theirs)
  }
}
