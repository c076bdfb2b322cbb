// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// Programs that this one starts. No shell is in between.
enum ChildProgram {
  /// Starts the program `path`, sought in PATH unless it has a slash, with these words as its arguments; `extra` is
  /// added to our environment. Signals do in it what they do by default. Detached, it has a session of its own and
  /// nothing of our input and output; otherwise a process group of its own, and no input.
  ///
  /// Throws `notFound`, `permissionDenied` and what else posix_spawn(3) may fail with.
  @discardableResult
  static func start(
    _ path: String, _ words: [String], extra: [String: String] = [:], isDetached: Bool = false
  ) throws(AccessoryError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
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

  /// POSIX_SPAWN_SETSID of <spawn.h>, which is behind _GNU_SOURCE there.
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

  /// Waits until a program has ended: its exit status, or the negative number of the signal that ended it. Blocks: for
  /// a queue of its own.
  static func wait(for process: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(process, &status, 0) == -1 { if errno != EINTR { return -1 } }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }
}
