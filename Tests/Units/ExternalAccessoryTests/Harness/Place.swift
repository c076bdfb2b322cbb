// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Glibc
import TestSupport

/// A runtime directory in which programs find nothing but each other.
final class Place: Sendable {
  let runtime: TemporaryDirectory
  private let programs = Locked<[Program]>([])

  init() throws { runtime = try TemporaryDirectory() }

  deinit { for program in programs.withLock({ $0 }) { program.signal(SIGKILL) } }

  /// Starts a program that was built beside the test program.
  func start(_ name: String, limit: Duration = .seconds(90), _ arguments: String...) throws -> Program {
    try start(at: try Self.path(of: name), arguments, limit: limit)
  }

  /// Where a program that was built beside the test program lies.
  static func path(of name: String) throws -> String {
    let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return tests.deletingLastPathComponent().appending(path: name).path
  }

  func start(at path: String, _ arguments: [String], limit: Duration = .seconds(90)) throws -> Program {
    let variables = [
      "XDG_RUNTIME_DIR": runtime.path, "XDG_CONFIG_HOME": runtime.path, "PATH": "/usr/bin:/bin",
    ]
    let program = try Program([path] + arguments, environment: variables, directory: runtime.path, limit: limit)
    programs.withLock { $0.append(program) }
    return program
  }

  /// Starts the simulator, and waits until it can be found.
  func simulate() async throws -> Program {
    let simulator = try start("bridge-cli", "simulate", "framed", "--percent", "57", "--seed", "1")
    let directory = runtime.path + "/accessory-bridge/simulated"
    try await eventually("the announcement") {
      !((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).isEmpty
    }
    return simulator
  }
}
