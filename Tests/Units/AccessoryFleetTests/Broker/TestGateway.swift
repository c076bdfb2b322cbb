// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport

/// A machine with simulated accessories, the service and a publisher, all as processes.
final class TestGateway: Sendable {
  let name: String
  let directory: TemporaryDirectory
  private let runtime: TemporaryDirectory
  private let programs = Locked<[Program]>([])

  init(_ name: String, directory: TemporaryDirectory) throws {
    (self.name, self.directory, runtime) = (name, directory, try TemporaryDirectory())
  }

  /// The folder of the programs.
  static let binaries =
    "/" + (linkTarget("/proc/self/exe") ?? "").split(separator: "/").dropLast().joined(separator: "/")

  @discardableResult
  func start(
    _ program: String, _ arguments: [String], with variables: [String: String] = [:], limit: Duration = .seconds(240)
  ) throws -> Program {
    let new = try Program(
      [Self.binaries + "/" + program] + arguments, environment: environment(with: variables), directory: directory.path,
      limit: limit)
    programs.withLock { $0.append(new) }
    return new
  }

  /// The environment of this machine's programs.
  func environment(with variables: [String: String] = [:]) -> [String: String] {
    var environment = [
      "XDG_RUNTIME_DIR": runtime.path, "PATH": "/usr/bin:/bin", "ACCESSORY_BRIDGE_SOURCES": "simulator",
      "ACCESSORY_BRIDGE_PROFILES": directory.path + "/profiles", "XDG_CONFIG_HOME": directory.path + "/config",
    ]
    environment.merge(variables) { $1 }
    return environment
  }

  /// Plugs a simulated accessory in.
  func plug(kind: String = "framed", _ arguments: String...) async throws -> Program {
    let simulator = try start("bridge-cli", ["simulate", kind] + arguments)
    try await simulator.line(containing: "is plugged in")
    return simulator
  }

  @discardableResult
  func serve(_ arguments: String...) throws -> Program {
    try start("bridge-cli", ["serve", "--reconnect-tries", "forever"] + arguments)
  }

  /// Where the service of this machine answers those who may only read.
  var readingsSocket: String { runtime.path + "/accessory-bridge/readings.socket" }
  /// Where it answers everybody else.
  var socket: String { runtime.path + "/accessory-bridge/bridge.socket" }

  /// Starts the publisher; with a network it doesn't reach the broker without it.
  @discardableResult
  func publish(
    _ broker: TestBroker, through network: TestNetwork? = nil, _ arguments: [String] = []
  ) throws -> Program {
    let user = TestBroker.users.contains(name) ? name : "attic"
    return try start(
      "bridge-fleet",
      ["publish", "--gateway", name, "--keepalive", "5"] + broker.options(of: user, port: network?.port) + arguments)
  }

  /// Runs one of the commands that look at a fleet, to its end.
  func look(_ broker: TestBroker, as user: String = "attic", _ words: String...) async throws -> Program.Transcript {
    try await start("bridge-fleet", words + broker.options(of: user)).end()
  }

  func topic(_ rest: String) -> String { "accessory-bridge/\(name)/\(rest)" }

  func end() async {
    for program in programs.withLock({ $0 }) {
      program.signal(SIGKILL)
      _ = try? await program.end()
    }
  }
}
