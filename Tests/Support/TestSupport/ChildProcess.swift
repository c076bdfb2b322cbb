// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// Another process, spoken to through its standard input and output.
public final class ChildProcess: Sendable {
  /// Its process id.
  public let pid: pid_t
  private let input: CInt
  private let output: CInt
  private let status = Locked<CInt?>(nil)
  private let isInputOpen = Locked(true)

  /// Starts the package's `TestChild`, which lies beside the test program, with these arguments.
  public convenience init(_ arguments: String...) throws {
    let program = SymbolicLink.target(of: "/proc/self/exe") ?? ""
    let folder = program.split(separator: "/").dropLast().joined(separator: "/")
    try self.init(path: "/\(folder)/TestChild", arguments: arguments)
  }

  /// Starts the program at `path`.
  public init(path: String, arguments: [String]) throws {
    let (childInput, input) = try Self.makePipe()
    let (output, childOutput) = try Self.makePipe()
    defer {
      Glibc.close(childInput)
      Glibc.close(childOutput)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, childInput, 0)
    posix_spawn_file_actions_adddup2(&actions, childOutput, 1)
    var argv = ([path] + arguments).map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, path, &actions, nil, &argv, environ)
    guard result == 0 else {
      Glibc.close(input)
      Glibc.close(output)
      throw Errno(rawValue: result)
    }
    (self.pid, self.input, self.output) = (pid, input, output)
  }

  deinit {
    if status.withLock({ $0 }) == nil {
      Glibc.kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    closeInput()
    Glibc.close(output)
  }

  private static func makePipe() throws -> (read: CInt, write: CInt) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Waits for its next line. Throws `Hang` when it ends instead.
  public func readLine() async throws -> String {
    try await blocking { [self] in
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while byte != UInt8(ascii: "\n") {
        var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, Patience.milliseconds(20_000)) == 1, Glibc.read(output, &byte, 1) == 1 else {
          throw Hang("a line of the child; so far: \(String(decoding: line, as: UTF8.self))")
        }
        line.append(byte)
      }
      return String(decoding: line.dropLast(), as: UTF8.self)
    }
  }

  /// Ends its standard input: its sign to finish.
  public func closeInput() {
    isInputOpen.withLock { isOpen in
      if isOpen { Glibc.close(input) }
      isOpen = false
    }
  }

  /// Kills it with SIGKILL, and waits until it is gone.
  public func kill() async throws {
    Glibc.kill(pid, SIGKILL)
    _ = try await wait()
  }

  /// Waits until it is gone; its exit code, or the negative number of the signal that killed it.
  public func wait() async throws -> CInt {
    try await blocking { [self] in
      var raw: CInt = 0
      while waitpid(pid, &raw, 0) == -1 { if errno != EINTR { throw Errno(rawValue: errno) } }
      let code = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
      status.withLock { $0 = code }
      return code
    }
  }
}
