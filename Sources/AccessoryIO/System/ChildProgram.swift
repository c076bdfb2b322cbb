// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc

/// Starts other programs, without a shell.
package enum ChildProgram {
  /// Starts the program `path` with the arguments `words`, the first of which is its name. A path without a slash is
  /// searched in PATH. `extra` is added to the environment. Signals have their default actions. A detached program has
  /// a session of its own and none of our standard descriptors; any other has a process group of its own, and no input but `input`. One
  /// `inOurPlace` stays in our process group, so that it can ask at the terminal, and Ctrl-C is for it, too.
  /// `output` takes its standard output and its standard error.
  ///
  /// Throws `notFound`, `permissionDenied` and the other errors of posix_spawn(3).
  @discardableResult
  package static func start(
    _ path: String, _ words: [String], extra: [String: String] = [:], isDetached: Bool = false,
    inOurPlace: Bool = false,
    input: CInt? = nil, output: CInt? = nil
  ) throws(AccessoryError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
    }
    if let output { for standard: CInt in 1...2 { posix_spawn_file_actions_adddup2(&actions, output, standard) } }
    if isDetached {
      posix_spawn_file_actions_adddup2(&actions, 0, 1)
      posix_spawn_file_actions_adddup2(&actions, 0, 2)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        | (isDetached ? Self.newSession : Int16(POSIX_SPAWN_SETPGROUP)))
    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment(extra).map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let result = posix_spawnp(&process, path, &actions, &attributes, &arguments, &variables)
    guard result == 0 else { throw AccessoryError(errno: .init(rawValue: result), "starting \(path)") }
    return process
  }

  /// POSIX_SPAWN_SETSID of <spawn.h>, which is declared only with _GNU_SOURCE.
  private static let newSession: Int16 = 0x80

  private static func environment(_ extra: [String: String]) -> [String] {
    var variables: [String] = []
    var entry = environ
    while let text = entry.pointee {
      let variable = String(cString: text)
      if !extra.keys.contains(where: { variable.hasPrefix($0 + "=") }) { variables.append(variable) }
      entry += 1
    }
    return variables + extra.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  /// How a program has ended.
  package struct Ended: Sendable, Hashable {
    /// The exit status, or the negative number of the signal that ended it; nil if it took too long and was killed.
    package var status: CInt?
    /// The end of what it has printed, on standard output and standard error.
    package var output: [UInt8]
  }

  /// The most bytes of a program's output that are kept, and that are read at once.
  private static let (outputLimit, readLimit) = (4_096, 65_536)
  /// The time between two looks at a running program, in milliseconds. So of one that prints for ever little is read in a second.
  private static let pause: CInt = 20

  /// Runs a program with this input, and waits for its end, but not for that of programs that it has left running. After `limit` it is
  /// killed, with the programs that it has started. Blocks, so call it on a queue of its own. Throws as `start` does.
  package static func run(
    _ path: String, _ words: [String], extra: [String: String] = [:], input: [UInt8], limit: Duration
  ) throws(AccessoryError) -> Ended {
    let file = try file(of: input, for: path)
    defer { _ = Glibc.close(file) }
    var pipe: [CInt] = [-1, -1]
    guard shim_pipe(&pipe) == 0 else {
      throw AccessoryError(errno: .init(rawValue: errno), "making a pipe for \(path)")
    }
    defer { _ = Glibc.close(pipe[0]) }
    let process: pid_t
    do throws(AccessoryError) {
      process = try start(path, words, extra: extra, input: file, output: pipe[1])
    } catch {
      _ = Glibc.close(pipe[1])
      throw error
    }
    _ = Glibc.close(pipe[1])
    // Until the program has ended, not until its output has: a program that it has started may keep that open.
    let end = MonotonicTime.now + limit
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: readLimit)
    while true {
      var status: CInt = 0
      let result = waitpid(process, &status, WNOHANG)
      let wasInterrupted = result < 0 && errno == EINTR
      // As much as a pipe holds, also after its end: a program that it has left may print for ever.
      var waited = pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0)
      if poll(&waited, 1, 0) > 0 {
        let count = max(0, Glibc.read(pipe[0], &piece, piece.count))
        output = (output + piece.prefix(count)).suffix(outputLimit)
      }
      if result == process { return Ended(status: Self.status(status), output: output) }
      guard result == 0 || wasInterrupted, MonotonicTime.now < end else {
        return Ended(status: kill(process), output: output)
      }
      poll(nil, 0, pause)
    }
  }

  /// Runs a program in our place at the terminal, with this input, and waits for its end. Returns its exit status, or the negative number of
  /// the signal that ended it. Blocks, so call it on a queue of its own. Throws as `start` does.
  package static func runInOurPlace(_ path: String, _ words: [String], input: [UInt8]) throws(AccessoryError) -> CInt {
    let file = try file(of: input, for: path)
    defer { _ = Glibc.close(file) }
    return wait(for: try start(path, words, inOurPlace: true, input: file))
  }

  /// A file in memory: the program may read it when it likes, and no other program can see it.
  private static func file(of input: [UInt8], for path: String) throws(AccessoryError) -> CInt {
    let file = shim_memory_file("input")
    guard file >= 0 else { throw AccessoryError(errno: .init(rawValue: errno), "making the input of \(path)") }
    var rest = input[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let failure = errno
        _ = Glibc.close(file)
        throw AccessoryError(errno: .init(rawValue: failure), "making the input of \(path)")
      }
      rest = rest.dropFirst(count)
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// Kills a program with its process group, and returns nil.
  private static func kill(_ process: pid_t) -> CInt? {
    Glibc.kill(-process, SIGKILL)
    _ = wait(for: process)
    return nil
  }

  private static func status(_ status: CInt) -> CInt {
    status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// Waits until a program has ended. Returns its exit status, or the negative number of the signal that ended it.
  /// Blocks, so call it on a queue of its own.
  package static func wait(for process: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(process, &status, 0) == -1 { if errno != EINTR { return -1 } }
    return self.status(status)
  }
}
