// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// Starts other programs, without a shell.
enum ChildProgram {
  /// Starts the program `path` with the arguments `words`, the first of which is its name. A path without a slash is
  /// searched in PATH. `extra` is added to the environment. Signals have their default actions. A detached program has
  /// a session of its own and none of our standard descriptors; any other has a process group of its own, and no input.
  ///
  /// Throws `notFound`, `permissionDenied` and the other errors of posix_spawn(3).
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

  /// Waits until a program has ended. Returns its exit status, or the negative number of the signal that ended it.
  /// Blocks, so call it on a queue of its own.
  static func wait(for process: pid_t) -> CInt {
    var status: CInt = 0
    while waitpid(process, &status, 0) == -1 { if errno != EINTR { return -1 } }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }
}
