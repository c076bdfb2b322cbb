// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import CTestShims
import Dispatch
import Glibc
import SystemPackage

/// A program at a terminal of its own, at which the test sits: it types, and sees what is written. A shell starts it and
/// outlives it, as the kernel resets a terminal whose session ends.
public final class TerminalProgram: Sendable {
  /// What the program has done so far.
  public struct State: Sendable {
    /// All that was written to the terminal.
    public var output: [UInt8] = []
    /// Whether the shell is gone, too.
    public var isOver = false

    /// Its exit status as a shell has it: 128 and more for a signal; nil while it runs.
    public var status: CInt? {
      guard let end = TerminalProgram.end(of: TerminalProgram.mark, in: output, from: 0) else {
        return isOver ? -1 : nil
      }
      let digits = output[end...].prefix { (0x30...0x39).contains($0) }
      guard end + digits.count < output.count else { return nil }
      return CInt(String(decoding: digits, as: UTF8.self))
    }

    /// What was written, as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// What it has done so far.
  public let state = Watched(State())
  /// The shell's process id.
  private let shell: pid_t
  private let master: CInt
  /// Keeps the terminal and its settings when the program is gone.
  private let slave: CInt
  private let words: [String]

  private static let mark = Array("the program has ended with ".utf8)

  /// Starts the program `words[0]`, a path, in a session whose terminal is its standard input, output and error. It is
  /// killed when it is let go of, and after `limit`, longer on a slow machine: `Patience`.
  public init(
    _ words: [String], environment: [String: String], directory: String, columns: Int = 80, rows: Int = 24,
    limit: Duration = .seconds(90)
  ) throws {
    var name = [CChar](repeating: 0, count: 128)
    master = test_openpt(&name, name.count)
    guard master >= 0 else { throw Errno(rawValue: errno) }
    slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw Errno(rawValue: errno) }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    let script = "\"$0\" \"$@\"; echo the program has ended with $?; read line"
    shell = try Self.spawn(["/bin/sh", "-c", script] + words, environment, directory, name)
    self.words = words
    let (state, shell, master) = (state, shell, master)
    DispatchQueue(label: "test.terminal").async {
      Self.follow(shell, master, state, until: ContinuousClock.now + limit.patient)
    }
  }

  deinit {
    end(by: SIGKILL)
    close(slave)
  }

  private static func spawn(
    _ words: [String], _ environment: [String: String], _ directory: String, _ terminal: [CChar]
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The leader of a session that has none gets the terminal that it opens first.
    posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
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
    let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | newSession)
    var argv = words.map { strdup($0) } + [nil]
    var envp = ThisProcess.variablesForPrograms.merging(environment) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, words[0], &actions, &attributes, &argv, &envp)
    guard result == 0 else { throw Errno(rawValue: result) }
    return pid
  }

  /// Reads what is written until the program is gone.
  private static func follow(
    _ pid: pid_t, _ master: CInt, _ state: Watched<State>, until end: ContinuousClock.Instant
  ) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var hasEnded = false
    while true {
      // The end shows in no descriptor, as the test has the terminal open too.
      var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      if poll(&entry, 1, hasEnded ? 0 : 50) > 0 {
        let count = read(master, &buffer, buffer.count)
        if count > 0 {
          let bytes = buffer.prefix(count)
          state.update { $0.output.append(contentsOf: bytes) }
          continue
        }
      }
      if hasEnded { break }
      if ContinuousClock.now > end { kill(pid, SIGKILL) }
      var information = siginfo_t()
      waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG)
      hasEnded = information.si_signo != 0
    }
    state.update { state in
      waitpid(pid, nil, 0)
      state.isOver = true
    }
    close(master)
  }

  // MARK: - What the test does

  /// Types.
  public func type(_ text: String) { type(Array(text.utf8)) }

  /// Types bytes, as keys send them.
  public func type(_ bytes: [UInt8]) {
    state.update { [master] state in if !state.isOver { _ = write(master, bytes, bytes.count) } }
  }

  /// Makes the window larger or smaller.
  public func resize(columns: Int, rows: Int = 24) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
  }

  /// Sends it a signal, if it still runs.
  public func signal(_ number: CInt) { if let pid { kill(pid, number) } }

  /// Ends it and its shell.
  public func end(by number: CInt) {
    state.update { [shell] in if !$0.isOver { _ = kill(-shell, number) } }
  }

  // MARK: - What the test sees

  /// Its process id; nil when it doesn't run.
  public var pid: pid_t? {
    let path = "/proc/\(shell)/task/\(shell)/children"
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ").first.flatMap { pid_t($0) }
  }

  /// Whether it is stopped, as by SIGTSTP: what continues it before that is lost on it.
  public var isStopped: Bool {
    guard let pid, let bytes = try? SmallFile.read("/proc/\(pid)/status", limit: 4_096) else { return false }
    return String(decoding: bytes, as: UTF8.self).contains("State:\tT")
  }

  /// The settings of the terminal, as `stty` shows them.
  public var settings: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 44)
    _ = bytes.withUnsafeMutableBytes { ioctl(slave, 0x802C_542A, $0.baseAddress!) }  // TCGETS2
    return bytes
  }

  /// Waits until `text` has been written behind the first `start` bytes, and returns how many there are up to its end.
  @discardableResult
  public func wait(for text: String, from start: Int = 0) async throws -> Int {
    let wanted = Array(text.utf8)
    let found = try await state.wait { $0.status != nil || Self.end(of: wanted, in: $0.output, from: start) != nil }
    guard let end = Self.end(of: wanted, in: found.output, from: start) else {
      throw Hang("\(text) of \(words), which ended with \(found.status ?? 0):\n\(found.text)")
    }
    return end
  }

  /// Waits for its end; returns its exit status.
  @discardableResult
  public func end() async throws -> CInt { try await state.wait { $0.status != nil }.status ?? -1 }

  private static func end(of wanted: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count - start >= wanted.count else { return nil }
    return (start...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }.map { $0 + wanted.count }
  }
}
